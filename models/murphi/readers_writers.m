-- Readers and writers.
--
-- Anyone may enter when nobody is inside. A reader may also enter as long as no writer is inside.
-- The second way treats readers and writers differently, so the processes are not all
-- interchangeable: only the readers are, and the writers are. (The example of Wahl: Adaptive
-- Symmetry Reduction, figure 1.)
--
-- expect: holds
-- states: 22
-- rules fired: 65
-- with READERS=3, WRITERS=2: states 140, rules fired 608

const
  READERS: 2;
  WRITERS: 1;

type
  process: 1 .. READERS + WRITERS;  -- the readers first
  location: enum { outside, trying, inside };

var
  at: array [process] of location;

startstate "all outside"
  for p: process do
    at[p] := outside;
  end;
end;

ruleset p: process do

  rule "try"
    at[p] = outside
  ==>
    at[p] := trying;
  end;

  rule "enter when nobody is inside"
    at[p] = trying & forall q: process do at[q] != inside end
  ==>
    at[p] := inside;
  end;

  rule "enter beside readers"
    at[p] = trying & p <= READERS & forall q: process do q <= READERS | at[q] != inside end
  ==>
    at[p] := inside;
  end;

  rule "leave"
    at[p] = inside
  ==>
    at[p] := outside;
  end;

end;

invariant "a writer is alone"
  forall p: process do
    p > READERS & at[p] = inside -> forall q: process do q = p | at[q] != inside end
  end;

cover "readers meet"
  exists p: process do
    exists q: process do p < q & at[p] = inside & at[q] = inside end
  end;

ruleset p: process do
  liveness "everyone can enter again" at[p] = inside;
end;
