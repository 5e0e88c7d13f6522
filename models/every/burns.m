-- Burns' algorithm for mutual exclusion with one bit for each process.
--
-- Processes stand in a line. A process gives way to those before it, and waits for those behind it. Each loop that looks at the
-- others is one step here.
-- (J. Burns, N. Lynch: Bounds on shared memory for mutual exclusion, 1993.)
--
-- The mistake: a process does not wait for those behind it.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: 1..N;
  location: enum { outside, lowering, looking, clear_before, raised, first, inside };

var
  at: array [process] of location;
  flag: array [process] of boolean;

startstate "all outside"
  for p: process do
    at[p] := outside;
    flag[p] := false;
  end;
end;

ruleset p: process do

  rule "try"
    at[p] = outside
  ==>
    at[p] := lowering;
  end;

  rule "lower the flag"
    at[p] = lowering
  ==>
    flag[p] := false;
    at[p] := looking;
  end;

  rule "begin again"
    at[p] = looking & exists q: process do q < p & flag[q] end
  ==>
    at[p] := lowering;
  end;

  rule "see nobody before"
    at[p] = looking & forall q: process do q < p -> !flag[q] end
  ==>
    at[p] := clear_before;
  end;

  rule "raise the flag"
    at[p] = clear_before
  ==>
    flag[p] := true;
    at[p] := raised;
  end;

  rule "give way"
    at[p] = raised & exists q: process do q < p & flag[q] end
  ==>
    at[p] := lowering;
  end;

  rule "be the first"
    at[p] = raised & forall q: process do q < p -> !flag[q] end
  ==>
    at[p] := first;
  end;

  rule "enter"
    at[p] = first & (WRONG = 1 | forall q: process do q > p -> !flag[q] end)
  ==>
    at[p] := inside;
  end;

  rule "leave"
    at[p] = inside
  ==>
    flag[p] := false;
    at[p] := outside;
  end;

end;

invariant "mutual exclusion"
  forall p: process do forall q: process do at[p] = inside & at[q] = inside -> p = q end end;
