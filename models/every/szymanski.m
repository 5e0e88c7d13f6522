-- Szymanski's algorithm for mutual exclusion with linear wait.
--
-- Processes gather in a waiting room; the last one to arrive closes the door behind all. Those inside go one by one in the order of
-- their numbers, and the last of them opens the door again. Each question about all others is one step here, and so is to follow
-- one who has closed the door: between the two steps of the original, a process relies on somebody being inside, which views
-- cannot say.
-- (B. Szymanski: A simple solution to Lamport's concurrent programming problem with linear wait, 1988.)
--
-- The mistake: those inside do not let those before them go first.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: 1..N;
  sign: enum { none, intends, waits, in_doorway, inside_room };
  location: enum { outside, at_door, entering, asking, steps_back, waiting, closing, queueing, inside, leaving };

var
  at: array [process] of location;
  flag: array [process] of sign;

startstate "all outside"
  for p: process do
    at[p] := outside;
    flag[p] := none;
  end;
end;

ruleset p: process do

  rule "intend"
    at[p] = outside
  ==>
    flag[p] := intends;
    at[p] := at_door;
  end;

  rule "find the door open"
    at[p] = at_door & forall q: process do flag[q] != in_doorway & flag[q] != inside_room end
  ==>
    at[p] := entering;
  end;

  rule "go through the door"
    at[p] = entering
  ==>
    flag[p] := in_doorway;
    at[p] := asking;
  end;

  rule "see that others come"
    at[p] = asking & exists q: process do flag[q] = intends end
  ==>
    at[p] := steps_back;
  end;

  rule "see that nobody comes"
    at[p] = asking & forall q: process do flag[q] != intends end
  ==>
    at[p] := closing;
  end;

  rule "wait for others"
    at[p] = steps_back
  ==>
    flag[p] := waits;
    at[p] := waiting;
  end;

  rule "follow through the door"
    at[p] = waiting & exists q: process do flag[q] = inside_room end
  ==>
    flag[p] := inside_room;
    at[p] := queueing;
  end;

  rule "close the door"
    at[p] = closing
  ==>
    flag[p] := inside_room;
    at[p] := queueing;
  end;

  rule "enter"
    at[p] = queueing & (WRONG = 1 | forall q: process do q < p -> flag[q] = none | flag[q] = intends end)
  ==>
    at[p] := inside;
  end;

  rule "see that all behind know"
    at[p] = inside & forall q: process do q > p -> flag[q] = none | flag[q] = intends | flag[q] = inside_room end
  ==>
    at[p] := leaving;
  end;

  rule "leave"
    at[p] = leaving
  ==>
    flag[p] := none;
    at[p] := outside;
  end;

end;

invariant "mutual exclusion"
  forall p: process do forall q: process do
    (at[p] = inside | at[p] = leaving) & (at[q] = inside | at[q] = leaving) -> p = q
  end end;
