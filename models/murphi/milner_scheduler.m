-- Milner's scheduler.
--
-- N cells in a ring start their tasks in turn. The cell that has the token starts its task, unless
-- the last one is still running, and passes the token on; tasks end at any time. The token starts at
-- cell 0, so although the ring can be rotated, the scheduler has no symmetry: a rotation moves the
-- start.
--
-- expect: holds
-- states: 10240
-- rules fired: 56320
-- with N=5: states 160, rules fired 480

const
  N: 10;

type
  cell: 0 .. N - 1;

var
  token: cell;
  running: array [cell] of boolean;

startstate "token at the first cell"
  token := 0;
  for c: cell do
    running[c] := false;
  end;
end;

ruleset c: cell do

  rule "start the task"
    token = c & !running[c]
  ==>
    running[c] := true;
    token := (c + 1) % N;
  end;

  rule "end the task"
    running[c]
  ==>
    running[c] := false;
  end;

end;

cover "all tasks run at once"
  forall c: cell do running[c] end;
