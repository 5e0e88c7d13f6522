-- Several things go wrong, at different distances from the start.
const N: 3;
type
  process: scalarset(N);
  level: 0..3;
var
  at: array[process] of level;
  note: array[process] of boolean;
  alarm: boolean;

procedure raise(var l: level; amount: level);
begin
  assert l + amount <= 2 "too high";
  l := l + amount;
end;

startstate "low"
begin
  for p: process do at[p] := 0; end;
  alarm := false;
end;

ruleset p: process do
  rule "step" at[p] < 3 ==> begin raise(at[p], 1); end;
  rule "look" at[p] = 1 & exists q: process do at[q] = 2 end ==> begin alarm := note[p]; end;
end;

invariant "one above" forall p: process do forall q: process do p != q & at[p] = 2 -> at[q] < 2 end end;
invariant "low" exists p: process do at[p] = 0 end;
invariant "quiet" !alarm;
cover "level two" exists p: process do at[p] = 2 end;
