-- Mutual exclusion by a semaphore.
--
-- The mistake: waiting and taking are two steps.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: scalarset(N);
  location: enum { outside, trying, passed, inside };

var
  at: array [process] of location;
  free: boolean;

startstate "all outside"
  for p: process do
    at[p] := outside;
  end;
  free := true;
end;

ruleset p: process do

  rule "try"
    at[p] = outside
  ==>
    at[p] := trying;
  end;

  rule "wait for the semaphore"
    at[p] = trying & free & WRONG = 1
  ==>
    at[p] := passed;
  end;

  rule "take the semaphore"
    at[p] = passed | (at[p] = trying & free & WRONG = 0)
  ==>
    free := false;
    at[p] := inside;
  end;

  rule "leave"
    at[p] = inside
  ==>
    at[p] := outside;
    free := true;
  end;

end;

invariant "mutual exclusion"
  forall p: process do forall q: process do at[p] = inside & at[q] = inside -> p = q end end;
