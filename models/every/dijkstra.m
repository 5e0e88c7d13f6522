-- Dijkstra's algorithm for mutual exclusion.
--
-- A process that wants to enter takes the turn if the one that has it does not want to. With the turn, it announces that it
-- will enter, and looks whether another one does the same. The loop that looks at the others is one step here.
-- (E. W. Dijkstra: Solution of a problem in concurrent programming control, 1965.)
--
-- The mistake: it enters without looking at the others.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: scalarset(N);
  wish: enum { none, wants, enters };
  location: enum { idle, waiting, may_take_turn, has_turn, checking, inside };

var
  at: array [process] of location;
  flag: array [process] of wish;
  turn: process;

ruleset first: process do
  startstate "all idle"
    for p: process do
      at[p] := idle;
      flag[p] := none;
    end;
    turn := first;
  end;
end;

ruleset p: process do

  rule "want to enter"
    at[p] = idle
  ==>
    flag[p] := wants;
    at[p] := waiting;
  end;

  rule "see that the turn is not used"
    at[p] = waiting & turn != p & flag[turn] = none
  ==>
    at[p] := may_take_turn;
  end;

  rule "take the turn"
    at[p] = may_take_turn
  ==>
    turn := p;
    at[p] := waiting;
  end;

  rule "have the turn"
    at[p] = waiting & turn = p
  ==>
    at[p] := has_turn;
  end;

  rule "announce"
    at[p] = has_turn
  ==>
    flag[p] := enters;
    at[p] := checking;
  end;

  rule "give way"
    at[p] = checking & exists q: process do q != p & flag[q] = enters end
  ==>
    flag[p] := wants;
    at[p] := waiting;
  end;

  rule "enter"
    at[p] = checking & (WRONG = 1 | forall q: process do q = p | flag[q] != enters end)
  ==>
    at[p] := inside;
  end;

  rule "leave"
    at[p] = inside
  ==>
    flag[p] := none;
    at[p] := idle;
  end;

end;

invariant "mutual exclusion"
  forall p: process do forall q: process do at[p] = inside & at[q] = inside -> p = q end end;
