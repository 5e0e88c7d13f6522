-- One member is marked, and another one then forgets its value. Whether it is wanted has no value after that.
type id: scalarset(2);
var
  marked: array[id] of boolean;
  value: array[id] of 0..1;
startstate "start" begin
  for i: id do marked[i] := false; value[i] := 0; end;
end;
ruleset i: id do
  rule "mark" forall j: id do !marked[j] end ==> begin marked[i] := true; end;
  rule "forget" (exists j: id do marked[j] end) & !marked[i] & !isundefined(value[i]) ==> begin undefine value[i]; end;
  cover "wanted" value[i] = 1;
end;
invariant "one" forall i: id do forall j: id do marked[i] & marked[j] -> i = j end end;
