-- An elevator, to show what can be asked besides invariants: assumptions, cover and liveness.
--
-- People call the elevator at FLOORS floors. It goes on in its direction as long as there is a call
-- ahead, turns round when calls are only behind, and opens its door where it was called. Nobody
-- calls when CALLS calls are already waiting: states with more are assumed away, and the numbers
-- below do not count them.
--
-- expect: holds
-- states: 141
-- rules fired: 444
-- with FLOORS=5, CALLS=3: states 407, rules fired 1455

const
  FLOORS: 4;
  CALLS: 2;  -- that may wait at the same time

type
  floor: 1..FLOORS;
  direction: enum { up, down };

var
  at: floor;
  heading: direction;
  door_open: boolean;
  called: array [floor] of boolean;

-- Whether a floor lies ahead of the elevator.
function ahead(f: floor): boolean;
begin
  return heading = up ? f > at : f < at;
end;

function waiting_calls(): 0..FLOORS;
var
  count: 0..FLOORS;
begin
  count := 0;
  for f: floor do
    if called[f] then
      count := count + 1;
    end;
  end;
  return count;
end;

ruleset f: floor do
  startstate "idle at a floor"
    at := f;
    heading := up;
    door_open := false;
    clear called;
  end;
end;

ruleset f: floor do
  rule "call"
    !called[f] & !(at = f & door_open)
  ==>
    called[f] := true;
  end;
end;

rule "open the door"
  called[at] & !door_open
==>
  door_open := true;
  called[at] := false;
end;

rule "close the door"
  door_open
==>
  door_open := false;
  cover "closed although someone waits" exists f: floor do called[f] end;
end;

rule "move on"
  !door_open & !called[at] & exists f: floor do called[f] & ahead(f) end
==>
  at := heading = up ? at + 1 : at - 1;
end;

rule "turn round"
  !door_open & !called[at]
  & (exists f: floor do called[f] end)
  & !(exists f: floor do called[f] & ahead(f) end)
==>
  heading := heading = up ? down : up;
end;

assume "few calls" waiting_calls() <= CALLS;

invariant "an open door has answered the call" door_open -> !called[at];

cover "the door opens at the top" at = FLOORS & door_open;
cover "as many calls as there may be" waiting_calls() = CALLS;

ruleset f: floor do
  -- From wherever it is, the elevator can still come to each floor and open.
  liveness "every floor can be served" at = f & door_open;
  cover "passes on its way" at = f & !called[f] & !door_open;
end;
