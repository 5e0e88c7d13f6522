-- `begin` is needed after declarations, and before a name that starts a rule without a guard.
var x: 0..3;

startstate x := 0; end;

rule x := 1; end;

rule "call" reset(); x := 2; end;

rule x = 1 ==> var y: 0..3; y := x; x := y; end;

startstate const N: 1; x := N; end;
