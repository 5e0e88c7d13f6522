-- What other Murphi tools have and is not supported.
type
  temperature: real(10, 99);

externfun f(x: 0..3): boolean "f.h";

var x: 0..3;

startstate begin x := 0; end;

rule 99999999999999999999 "with priority" x = 0 ==> begin x := 1; end;
