-- As many senders as couriers, and one letter box: a sender puts a letter into the box when it is empty and no courier is on the
-- way, a courier takes it and delivers it. One constant is the number of both.
--
-- The mistake: a sender does not ask where the couriers are.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 2;      -- senders, and couriers
  WRONG: 0;  -- whether the mistake is made

type
  sender: scalarset(N);
  courier: scalarset(N);

var
  has_letter: array [sender] of boolean;
  rides: array [courier] of boolean;
  full: boolean;

startstate "no letters"
  for s: sender do
    has_letter[s] := false;
  end;
  for c: courier do
    rides[c] := false;
  end;
  full := false;
end;

ruleset s: sender do

  rule "write a letter"
    !has_letter[s]
  ==>
    has_letter[s] := true;
  end;

  rule "send it"
    has_letter[s] & !full & (WRONG = 1 | forall c: courier do !rides[c] end)
  ==>
    has_letter[s] := false;
    full := true;
  end;

end;

ruleset c: courier do

  rule "take the letter"
    !rides[c] & full
  ==>
    rides[c] := true;
    full := false;
  end;

  rule "deliver it"
    rides[c]
  ==>
    rides[c] := false;
  end;

end;

invariant "one letter is on the way"
  forall c: courier do forall d: courier do rides[c] & rides[d] -> c = d end end;
