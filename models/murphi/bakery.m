-- Lamport's bakery, with numbers that run out.
--
-- A process takes a number greater than all it sees and is served in the order of numbers; two that
-- took the same number at the same time are served in the order of their names. Choosing takes
-- several steps, in which others move on, and a process that waits looks at the others one by one.
-- The numbers of the true algorithm grow without bound. Here runs in which they grow beyond LIMIT are
-- left out, so this says nothing about longer runs.
--
-- The tie is decided by comparing names, so processes are not interchangeable.
--
-- expect: holds
-- deadlock: off
-- states: 497
-- rules fired: 859
-- with N=3, LIMIT=3: states 12454, rules fired 30628

const
  N: 2;      -- processes
  LIMIT: 4;  -- the greatest number

type
  process: 1..N;
  number: 0..LIMIT;
  location: enum { idle, choosing, wait_for_choice, wait_for_turn, critical };

var
  at: array [process] of location;
  number_of: array [process] of number;  -- 0: none
  greatest: array [process] of number;   -- that it has seen while choosing
  unseen: array [process] of 1 .. N + 1; -- the next process to look at

-- Whether q goes before p.
function before(q: process; p: process): boolean;
begin
  return number_of[q] != 0
    & (number_of[q] < number_of[p] | (number_of[q] = number_of[p] & q < p));
end;

startstate "all idle"
  for p: process do
    at[p] := idle;
    number_of[p] := 0;
    greatest[p] := 0;
    unseen[p] := 1;
  end;
end;

ruleset p: process do

  rule "begin to choose"
    at[p] = idle
  ==>
    at[p] := choosing;
  end;

  rule "look at a number"
    at[p] = choosing & unseen[p] <= N
  ==>
    if number_of[unseen[p]] > greatest[p] then
      greatest[p] := number_of[unseen[p]];
    end;
    unseen[p] := unseen[p] + 1;
  end;

  rule "take a number"
    at[p] = choosing & unseen[p] > N
  ==>
    assume greatest[p] < LIMIT;
    number_of[p] := greatest[p] + 1;
    greatest[p] := 0;
    unseen[p] := 1;
    at[p] := wait_for_choice;
  end;

  rule "see that the next one is not choosing"
    at[p] = wait_for_choice & unseen[p] <= N & at[unseen[p]] != choosing
  ==>
    at[p] := wait_for_turn;
  end;

  rule "see that the next one does not go first"
    at[p] = wait_for_turn & !before(unseen[p], p)
  ==>
    unseen[p] := unseen[p] + 1;
    at[p] := wait_for_choice;
  end;

  rule "enter"
    at[p] = wait_for_choice & unseen[p] > N
  ==>
    unseen[p] := 1;
    at[p] := critical;
  end;

  rule "leave"
    at[p] = critical
  ==>
    number_of[p] := 0;
    at[p] := idle;
  end;

end;

invariant "mutual exclusion"
  forall p: process do
    forall q: process do
      at[p] = critical & at[q] = critical -> p = q
    end
  end;
