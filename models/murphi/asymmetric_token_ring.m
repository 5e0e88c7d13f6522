-- A token ring in which one station is special.
--
-- A token goes round. The station that has it may send one message, if it has any. Stations get work
-- at any time, all in the same way. Only the monitor, station 1, may throw away the work of another
-- station, and only while it has the token. Passing the token on tells the two neighbours apart from the
-- rest, everything else that is local tells nobody apart.
--
-- expect: holds
-- states: 96
-- rules fired: 284
-- with N=3: states 36, rules fired 88

const
  N: 4;
  MONITOR: 1;

type
  station: 1 .. N;
  work: enum { none, ready, sent };

var
  at: array [station] of work;
  token: station;

startstate "nobody has work"
  for p: station do
    at[p] := none;
  end;
  token := MONITOR;
end;

ruleset p: station do

  rule "get work"
    at[p] = none
  ==>
    at[p] := ready;
  end;

  rule "send"
    token = p & at[p] = ready & forall q: station do at[q] != sent end
  ==>
    at[p] := sent;
  end;

  rule "pass the token on"
    token = p & at[p] != ready
  ==>
    at[p] := none;
    token := p % N + 1;
  end;

  rule "throw away"
    token = MONITOR & at[MONITOR] = none & p != MONITOR & at[p] = ready
  ==>
    at[p] := none;
  end;

end;

invariant "only the station with the token sends"
  forall p: station do at[p] = sent -> token = p end;
