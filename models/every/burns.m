-- Burns' algorithm for mutual exclusion with one bit for each process, without its order.
--
-- In the original a process gives way to those with a lower number, and waits for those with a higher one; here it gives
-- way to all others, so that processes are interchangeable. Mutual exclusion does not need the order (only progress does).
-- (J. Burns, N. Lynch: Bounds on shared memory for mutual exclusion, 1993.)
--
-- The mistake: a process looks before it raises its own flag, and not after.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: scalarset(N);
  location: enum { outside, looked, raised, inside };

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

  rule "look"
    at[p] = outside & forall q: process do !flag[q] end
  ==>
    at[p] := looked;
  end;

  rule "raise the flag"
    at[p] = looked
  ==>
    at[p] := raised;
    flag[p] := true;
  end;

  rule "give way"
    at[p] = raised & exists q: process do q != p & flag[q] end
  ==>
    at[p] := outside;
    flag[p] := false;
  end;

  rule "enter"
    at[p] = raised & (WRONG = 1 | forall q: process do q = p | !flag[q] end)
  ==>
    at[p] := inside;
  end;

  rule "leave"
    at[p] = inside
  ==>
    at[p] := outside;
    flag[p] := false;
  end;

end;

invariant "mutual exclusion"
  forall p: process do forall q: process do at[p] = inside & at[q] = inside -> p = q end end;
