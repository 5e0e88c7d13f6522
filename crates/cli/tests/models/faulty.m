-- Each rule goes wrong in its own way once it can fire.
var
  x: 0..3;
  y: 0..1;
startstate "start" begin x := 0; end;
rule "grow" x < 3 ==> begin x := x + 1; end;
ruleset step: 1..2 do
  rule "leap" x = 3 ==> begin x := x + step; end;
end;
invariant "small" x < 9;
