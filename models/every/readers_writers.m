-- Readers and writers: any process may read or write.
--
-- A reader enters while no writer is inside, a writer while nobody is. (P.-J. Courtois, F. Heymans, D. Parnas: Concurrent
-- control with "readers" and "writers", 1971; the counter of readers is a question about all here.)
--
-- The mistake: a writer only looks for other writers.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: scalarset(N);
  location: enum { outside, wants_to_read, wants_to_write, reading, writing };

var
  at: array [process] of location;

startstate "all outside"
  for p: process do
    at[p] := outside;
  end;
end;

ruleset p: process do

  rule "want to read"
    at[p] = outside
  ==>
    at[p] := wants_to_read;
  end;

  rule "want to write"
    at[p] = outside
  ==>
    at[p] := wants_to_write;
  end;

  rule "read"
    at[p] = wants_to_read & forall q: process do at[q] != writing end
  ==>
    at[p] := reading;
  end;

  rule "write"
    at[p] = wants_to_write & forall q: process do at[q] != writing & (WRONG = 1 | at[q] != reading) end
  ==>
    at[p] := writing;
  end;

  rule "leave"
    at[p] = reading | at[p] = writing
  ==>
    at[p] := outside;
  end;

end;

invariant "a writer is alone"
  forall p: process do
    at[p] = writing -> forall q: process do q = p | (at[q] != writing & at[q] != reading) end
  end;
