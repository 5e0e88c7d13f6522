-- Nothing is visible in its own declaration, so there are no cycles.
const
  a: a + 1;
  b: c;
  c: b;
type
  list: record head: boolean; tail: list; end;
  t: t;
function even(n: 0..9): boolean; begin return n = 0 | odd(n - 1); end;
function odd(n: 0..9): boolean; begin return n != 0 & even(n - 1); end;
startstate begin end;
function own_header(x: 0..own_header(1)): 0..3; begin return x; end;
