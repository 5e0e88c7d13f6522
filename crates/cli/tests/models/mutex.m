-- A lock that two processes can hold at once: the test and the set are two steps.
const Processes: 2;
type
  process: scalarset(Processes);
  place: enum { idle, trying, critical };
var
  at: array[process] of place;
  locked: boolean;
  last: process;

startstate "free"
begin
  for p: process do at[p] := idle; end;
  locked := false;
end;

ruleset p: process do
  rule "try" at[p] = idle & !locked ==>
  begin
    at[p] := trying;
  end;

  rule "enter" at[p] = trying ==>
  begin
    at[p] := critical;
    locked := true;
    last := p;
  end;

  rule at[p] = critical ==>
  begin
    at[p] := idle;
    locked := false;
  end;
end;

invariant "mutual exclusion"
  forall p: process do forall q: process do
    p != q -> !(at[p] = critical & at[q] = critical)
  end end;

cover "both try" forall p: process do at[p] = trying end;
