-- Message passing in a hypercube.
--
-- The 2^D nodes are numbered so that neighbours differ in one bit. A node can hold one message: it
-- makes one, passes it to a neighbour that has none, or takes it off the network. Every symmetry of
-- the cube is one of the network: 2^D * D! of them.
--
-- expect: holds
-- states: 256
-- rules fired: 3584
-- with D=2: states 16, rules fired 96

const
  D: 3;

type
  node: 0 .. (1 << D) - 1;
  direction: 0 .. D - 1;

var
  holds: array [node] of boolean;

function neighbour(n: node; d: direction): node;
begin
  if (n >> d) % 2 = 0 then
    return n + (1 << d);
  end;
  return n - (1 << d);
end;

startstate "empty"
  for n: node do
    holds[n] := false;
  end;
end;

ruleset n: node do

  rule "make"
    !holds[n]
  ==>
    holds[n] := true;
  end;

  ruleset d: direction do
    rule "pass on"
      holds[n] & !holds[neighbour(n, d)]
    ==>
      holds[n] := false;
      holds[neighbour(n, d)] := true;
    end;
  end;

  rule "take off"
    holds[n]
  ==>
    holds[n] := false;
  end;

end;

cover "the network is full"
  forall n: node do holds[n] end;
