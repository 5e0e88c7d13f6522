-- A pool of eight resources.
--
-- Processes take a resource if one is free, and give it back. How many are free is counted; giving back more than were there
-- is a run-time error. Views of a few processes do not show that there is none: nine processes that hold one have to
-- be excluded. A search backward does.
--
-- The mistake: a process takes a resource although none is free.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 9

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made
  POOL: 8;   -- resources

type
  process: scalarset(N);
  location: enum { outside, inside };

var
  at: array [process] of location;
  free: 0..POOL;

startstate "all are free"
  for p: process do
    at[p] := outside;
  end;
  free := POOL;
end;

ruleset p: process do

  rule "take"
    at[p] = outside & (free > 0 | WRONG = 1)
  ==>
    at[p] := inside;
    if free > 0 then free := free - 1; end;
  end;

  rule "give back"
    at[p] = inside
  ==>
    at[p] := outside;
    free := free + 1;
  end;

end;

invariant "whoever is inside holds a resource"
  forall p: process do at[p] = inside -> free < POOL end;
