-- Leader election in a rooted tree, from any initial configuration.
--
-- Node n > 0 has the parent (n - 1) / ARITY. The root is a leader for good. A leader below it gives
-- way to a leader above it or moves up. Subtrees of the same shape under one parent can be exchanged:
-- 2^7 symmetries for the full binary tree of 15 nodes. (After Canepa and Potop-Butucaru:
-- Self-stabilizing tiny leader election in directed rooted trees.)
--
-- expect: holds
-- deadlock: off
-- states: 128
-- rules fired: 448
-- with N=13, ARITY=3: states 8192, rules fired 53248
-- peer: none, array parameters are an extension

const
  N: 7;      -- nodes
  ARITY: 2;  -- children of a node

type
  node: 0 .. N - 1;
  flags: array [node] of boolean;

var
  leader: flags;

function parent(n: node): node;
begin
  return (n - 1) / ARITY;
end;

ruleset initial: flags do
  startstate "anything"
    leader := initial;
  end;
end;

rule "the root comes forward"
  !leader[0]
==>
  leader[0] := true;
end;

ruleset n: node do

  rule "give way"
    n > 0 & leader[n] & leader[parent(n)]
  ==>
    leader[n] := false;
  end;

  rule "move up"
    n > 0 & leader[n] & !leader[parent(n)]
  ==>
    leader[n] := false;
    leader[parent(n)] := true;
  end;

end;

liveness "only the root"
  leader[0] & forall n: node do n > 0 -> !leader[n] end;
