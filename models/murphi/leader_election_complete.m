-- Leader election where everyone meets everyone, from any initial configuration.
--
-- When two leaders meet, one resigns. When there is no leader at all, an oracle lets any agent become
-- one. All agents are interchangeable. (After Fischer and Jiang: Self-stabilizing leader election in
-- networks of finite-state anonymous agents.)
--
-- expect: holds
-- deadlock: off
-- states: 64
-- rules fired: 486
-- with N=4: states 16, rules fired 52
-- peer: none, array parameters are an extension

const
  N: 6;

type
  agent: 0 .. N - 1;
  flags: array [agent] of boolean;

var
  leader: flags;

ruleset initial: flags do
  startstate "anything"
    leader := initial;
  end;
end;

ruleset u: agent; v: agent do
  rule "resign"
    u != v & leader[u] & leader[v]
  ==>
    leader[v] := false;
  end;
end;

ruleset u: agent do
  rule "come forward"
    forall v: agent do !leader[v] end
  ==>
    leader[u] := true;
  end;
end;

-- One leader stays the leader, which is no deadlock.
liveness "one leader"
  (exists u: agent do leader[u] end)
  & forall u: agent do forall v: agent do leader[u] & leader[v] -> u = v end end;
