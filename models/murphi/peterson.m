-- Peterson's mutual exclusion for N processes (the filter lock).
--
-- A process climbs through N - 1 levels. At each it declares itself the last to arrive and waits
-- until somebody else arrives after it, or nobody else is at this level or above. So at least one
-- process stays behind at each level, and at most one comes through the last.
--
-- expect: holds
-- states: 356
-- rules fired: 810
-- with N=2: states 24, rules fired 42
-- with N=4: states 5744, rules fired 15848

const
  N: 3;  -- processes

type
  process: 1..N;
  level: 0 .. N - 1;        -- 0: does not compete
  waiting_level: 1 .. N - 1;
  location: enum { idle, arriving, waiting, critical };

var
  at: array [process] of location;
  level_of: array [process] of level;
  turn: array [waiting_level] of process;  -- the last to arrive; undefined until someone does

-- How many processes are beyond a level.
function passed(l: waiting_level): 0..N;
var
  count: 0..N;
begin
  count := 0;
  for p: process do
    if level_of[p] > l | at[p] = critical then
      count := count + 1;
    end;
  end;
  return count;
end;

startstate "all idle"
  for p: process do
    at[p] := idle;
    level_of[p] := 0;
  end;
end;

ruleset p: process do

  rule "compete"
    at[p] = idle
  ==>
    level_of[p] := 1;
    at[p] := arriving;
  end;

  rule "arrive at a level"
    at[p] = arriving
  ==>
    turn[level_of[p]] := p;
    at[p] := waiting;
  end;

  rule "pass a level"
    at[p] = waiting
    & (turn[level_of[p]] != p
       | forall other: process do other = p | level_of[other] < level_of[p] end)
  ==>
    if level_of[p] < N - 1 then
      level_of[p] := level_of[p] + 1;
      at[p] := arriving;
    else
      at[p] := critical;
    end;
  end;

  rule "leave"
    at[p] = critical
  ==>
    level_of[p] := 0;
    at[p] := idle;
  end;

end;

invariant "mutual exclusion"
  forall p: process do
    forall q: process do
      at[p] = critical & at[q] = critical -> p = q
    end
  end;

-- The reason why it works.
invariant "someone stays behind at each level"
  forall l: waiting_level do passed(l) <= N - l end;
