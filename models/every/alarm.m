-- An alarm that spreads: sensors without a centre.
--
-- A sensor that suspects a fire asks the others, and raises the alarm if one of them has seen it. Whoever hears an alarm joins in,
-- and goes to look. Guards ask only whether some other sensor is somewhere. (The kind of protocol is that of E. A. Emerson,
-- V. Kahlon: Reducing model checking of the many to the few, CADE-17, 2000.)
--
-- The mistake: two sensors that ask confirm each other.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- sensors
  WRONG: 0;  -- whether the mistake is made

type
  sensor: scalarset(N);
  location: enum { calm, suspects, asks, alarms, looks, has_seen };

var
  at: array [sensor] of location;

startstate "all calm"
  for s: sensor do
    at[s] := calm;
  end;
end;

ruleset s: sensor do

  rule "suspect"
    at[s] = calm
  ==>
    at[s] := suspects;
  end;

  rule "ask"
    at[s] = suspects
  ==>
    at[s] := asks;
  end;

  rule "be confirmed"
    at[s] = asks & exists t: sensor do t != s & (at[t] = has_seen | (WRONG = 1 & at[t] = asks)) end
  ==>
    at[s] := alarms;
  end;

  rule "join in"
    at[s] = calm & exists t: sensor do at[t] = alarms end
  ==>
    at[s] := alarms;
  end;

  rule "look"
    at[s] = alarms
  ==>
    at[s] := looks;
  end;

  rule "see"
    at[s] = looks & exists t: sensor do at[t] = alarms end
  ==>
    at[s] := has_seen;
  end;

  rule "calm down"
    at[s] = suspects | at[s] = asks
  ==>
    at[s] := calm;
  end;

end;

invariant "no alarm without a fire"
  forall s: sensor do
    at[s] != alarms
  end;
