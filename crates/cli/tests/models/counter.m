-- Counts to the limit and starts again.
const Limit: 3;
var count: 0..Limit;

startstate "Zero"
begin
  count := 0;
end;

rule "increment" count < Limit ==>
begin
  count := count + 1;
end;

rule "reset" count = Limit ==>
begin
  count := 0;
end;

invariant "in range" count <= Limit;

cover "reaches the limit" count = Limit;

liveness "always comes back" count = 0;
