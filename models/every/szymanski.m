-- The waiting room of Szymanski's algorithm, without its order.
--
-- Processes gather in a waiting room; the last one to arrive closes the door behind all, and only when those inside have
-- left is it opened again. In the original, those inside go one by one in the order of their numbers; here one goes when no
-- other is at the critical section, so that processes are interchangeable. Each question about all others is one step.
-- (B. Szymanski: A simple solution to Lamport's concurrent programming problem with linear wait, 1988.)
--
-- The mistake: the door is not looked at.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: scalarset(N);
  location: enum { outside, intends, in_doorway, in_room, behind_door, inside };

var
  at: array [process] of location;

startstate "all outside"
  for p: process do
    at[p] := outside;
  end;
end;

ruleset p: process do

  rule "intend"
    at[p] = outside
  ==>
    at[p] := intends;
  end;

  rule "go through the door"
    at[p] = intends
    & (WRONG = 1 | forall q: process do at[q] = outside | at[q] = intends | at[q] = in_room | at[q] = in_doorway end)
  ==>
    at[p] := in_doorway;
  end;

  rule "wait for others"
    at[p] = in_doorway & exists q: process do q != p & at[q] = intends end
  ==>
    at[p] := in_room;
  end;

  rule "close the door"
    at[p] = in_doorway & forall q: process do q = p | at[q] != intends end
  ==>
    at[p] := behind_door;
  end;

  rule "follow"
    at[p] = in_room & exists q: process do at[q] = behind_door | at[q] = inside end
  ==>
    at[p] := behind_door;
  end;

  rule "enter"
    at[p] = behind_door & forall q: process do at[q] != inside & at[q] != in_doorway end
  ==>
    at[p] := inside;
  end;

  rule "leave"
    at[p] = inside
  ==>
    at[p] := outside;
  end;

end;

invariant "mutual exclusion"
  forall p: process do forall q: process do at[p] = inside & at[q] = inside -> p = q end end;

-- Nobody comes through the door while one is inside.
invariant "the door is closed"
  (exists p: process do at[p] = inside end) -> forall q: process do at[q] != in_doorway end;
