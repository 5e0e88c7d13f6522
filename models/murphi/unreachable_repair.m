-- A lock with a repair that is never needed.
--
-- Processes take a lock in turn. The repair looks at the first two processes and at nobody else, but
-- only if both are inside, which never happens. As a text, the model treats the first two processes
-- differently from the others; as a system, it does not. A global symmetry must preserve the repair,
-- adaptive reduction never meets it.
--
-- expect: holds
-- states: 256
-- rules fired: 1056
-- with N=4: states 48, rules fired 144

const
  N: 6;

type
  process: 1 .. N;
  location: enum { outside, waiting, inside };

var
  at: array [process] of location;
  free: boolean;
  broken: array [process] of boolean;

startstate "all outside"
  for p: process do
    at[p] := outside;
    broken[p] := false;
  end;
  free := true;
end;

ruleset p: process do

  rule "ask"
    at[p] = outside
  ==>
    at[p] := waiting;
  end;

  rule "enter"
    at[p] = waiting & free
  ==>
    at[p] := inside;
    free := false;
  end;

  rule "leave"
    at[p] = inside
  ==>
    at[p] := outside;
    free := true;
  end;

end;

rule "repair"
  at[1] = inside & at[2] = inside
==>
  at[1] := outside;
  broken[2] := true;
end;

invariant "nobody is broken"
  forall p: process do !broken[p] end;
