-- A prioritized resource allocator.
--
-- Clients ask for one resource and get it when it is free and nobody more important is waiting.
-- Clients 1 to A are the most important, the next B come second, the last C third. Clients of the
-- same priority are interchangeable. (After Donaldson and Miller; the configuration A-B-C is that of
-- table I of Zhang et al.: Constraint-Based Automatic Symmetry Detection.)
--
-- expect: holds
-- states: 576
-- rules fired: 2412
-- with A=2, B=1, C=1: states 48, rules fired 131

const
  A: 2;
  B: 2;
  C: 3;

type
  client: 1 .. A + B + C;
  location: enum { idle, waiting, using };

var
  at: array [client] of location;
  free: boolean;

function priority(c: client): 0..2;
begin
  if c <= A then
    return 2;
  elsif c <= A + B then
    return 1;
  end;
  return 0;
end;

startstate "all idle"
  for c: client do
    at[c] := idle;
  end;
  free := true;
end;

ruleset c: client do

  rule "ask"
    at[c] = idle
  ==>
    at[c] := waiting;
  end;

  rule "get it"
    at[c] = waiting & free
    & (forall d: client do at[d] = waiting -> priority(d) <= priority(c) end)
  ==>
    at[c] := using;
    free := false;
  end;

  rule "give it back"
    at[c] = using
  ==>
    at[c] := idle;
    free := true;
  end;

end;

invariant "one at a time"
  forall c: client do forall d: client do
    at[c] = using & at[d] = using -> c = d
  end end;
