-- Slips in properties.
var x: 0..3;

startstate begin x := 0; end;

rule begin x := 0; end;

invariant "named twice" x = 0 "again";
invariant "empty";
cover unquoted name;
assume x = 0 x = 1;
liveness eventually x = 3;
