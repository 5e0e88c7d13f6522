-- Leaves 0 for good and never gets to 3.
var x: 0..3;
startstate "zero" begin x := 0; end;
rule "leave" x = 0 ==> begin x := 1; end;
rule "flip" x = 1 ==> begin x := 2; end;
rule "flop" x = 2 ==> begin x := 1; end;
cover "three" x = 3;
cover x = 2;
liveness "home" x = 0;
