-- Dining philosophers: N of them around a table, a fork between each two.
--
-- Each takes the fork to the right, takes the fork to the left, eats, and puts both back in the same
-- order. When all have taken their right forks they starve. Here that is not asked; see
-- dining_deadlock.m. What may be rotated is the whole table, and nothing else.
--
-- expect: holds
-- deadlock: off
-- states: 392
-- rules fired: 1250
-- with N=10: states 154450, rules fired 986430

const
  N: 5;  -- philosophers

type
  philosopher: 0 .. N - 1;
  activity: enum { thinking, has_right, has_both, has_eaten, has_left };

var
  doing: array [philosopher] of activity;
  taken: array [philosopher] of boolean;  -- the fork to the right of each

startstate "all thinking"
  for p: philosopher do
    doing[p] := thinking;
    taken[p] := false;
  end;
end;

ruleset p: philosopher do
  alias right: taken[p]; left: taken[(p + 1) % N] do

    rule "take the right fork"
      doing[p] = thinking & !right
    ==>
      right := true;
      doing[p] := has_right;
    end;

    rule "take the left fork"
      doing[p] = has_right & !left
    ==>
      left := true;
      doing[p] := has_both;
    end;

    rule "eat"
      doing[p] = has_both
    ==>
      doing[p] := has_eaten;
    end;

    rule "put the right fork back"
      doing[p] = has_eaten
    ==>
      right := false;
      doing[p] := has_left;
    end;

    rule "put the left fork back"
      doing[p] = has_left
    ==>
      left := false;
      doing[p] := thinking;
    end;

  end;
end;

invariant "neighbours do not eat at the same time"
  forall p: philosopher do
    !(doing[p] = has_both & doing[(p + 1) % N] = has_both)
  end;
