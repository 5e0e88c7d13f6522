-- A barrier that can be used again.
--
-- Processes arrive and wait. When all have arrived, the barrier opens and they leave; when all have left, it closes.
--
-- The mistake: the barrier opens when anyone has arrived.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: scalarset(N);
  location: enum { working, arrived, released };

var
  at: array [process] of location;
  open: boolean;

startstate "all at work"
  for p: process do
    at[p] := working;
  end;
  open := false;
end;

ruleset p: process do

  rule "arrive"
    at[p] = working & !open
  ==>
    at[p] := arrived;
  end;

  rule "leave"
    at[p] = arrived & open
  ==>
    at[p] := released;
  end;

end;

rule "open"
  !open & (exists p: process do at[p] = arrived end)
  & (WRONG = 1 | forall p: process do at[p] = arrived end)
==>
  open := true;
end;

rule "close"
  open & forall p: process do at[p] = released end
==>
  open := false;
  for p: process do
    at[p] := working;
  end;
end;

invariant "nobody leaves before all have arrived"
  forall p: process do at[p] = released -> forall q: process do at[q] != working end end;
