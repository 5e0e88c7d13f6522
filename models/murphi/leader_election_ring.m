-- Leader election in a directed ring, from any initial configuration.
--
-- Leaders fire bullets and raise a shield. A bullet travels clockwise until it meets a leader: one
-- whose shield is down is shot, one whose shield is up survives, and the bullet is gone in either
-- case. A leader fires again when its own bullet is gone; it lowers its shield when a bullet hits it.
-- When there is no leader at all, an oracle lets any agent become one. The ring can be rotated. (After
-- Fischer and Jiang: Self-stabilizing leader election in networks of finite-state anonymous agents.)
--
-- expect: holds
-- states: 4096
-- rules fired: 13312
-- with N=5: states 32768, rules fired 128000
-- peer: none, array parameters are an extension

const
  N: 4;

type
  agent: 0 .. N - 1;
  flags: array [agent] of boolean;

var
  leader: flags;
  bullet: flags;
  shield: flags;

ruleset initial_leader: flags; initial_bullet: flags; initial_shield: flags do
  startstate "anything"
    leader := initial_leader;
    bullet := initial_bullet;
    shield := initial_shield;
  end;
end;

ruleset u: agent do
  alias v: (u + 1) % N do

    rule "come forward"
      forall w: agent do !leader[w] end
    ==>
      leader[u] := true;
      shield[u] := true;
      bullet[u] := true;
    end;

    rule "fire"
      leader[u] & !bullet[u]
    ==>
      bullet[u] := true;
      shield[u] := true;
    end;

    rule "fly on"
      bullet[u] & !leader[v] & !bullet[v]
    ==>
      bullet[u] := false;
      bullet[v] := true;
    end;

    rule "meet another bullet"
      bullet[u] & !leader[v] & bullet[v]
    ==>
      bullet[u] := false;
    end;

    rule "hit"
      bullet[u] & leader[v]
    ==>
      bullet[u] := false;
      if !shield[v] then
        leader[v] := false;
      else
        shield[v] := false;
      end;
    end;

  end;
end;

cover "one leader"
  exists u: agent do
    leader[u] & forall v: agent do leader[v] -> v = u end
  end;
