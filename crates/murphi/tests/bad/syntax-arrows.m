-- Guards that end with something else than `==>`.
var x: 0..3;

startstate begin x := 0; end;

rule "short arrow" x = 0 => begin x := 1; end;

rule "implication" x = 1 -> begin x := 2; end;

rule "no arrow" x = 2
begin
  x := 3;
end;

rule "arrow without a guard" ==> begin x := 0; end;

invariant "arrow in a condition" x = 0 ==> x < 3;

invariant "comparison" x => 0;
