-- The `if` of the first rule is closed, the rule is not.
var x: 0..3;

startstate begin x := 0; end;

rule "first" x < 3 ==>
begin
  if x = 0 then
    x := 1;
  else
    x := x + 1;
  end;

rule "second" x = 3 ==>
begin
  x := 0;
end;

ruleset i: 0..3 do
  rule "third" x = i ==> begin x := 0; end;

invariant x <= 3;
