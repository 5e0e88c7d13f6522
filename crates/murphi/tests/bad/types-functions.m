-- Functions and calls.
type pair: record left: 0..3; end;
var n: 0..3; wide: 0..9; b: boolean; p: pair;
function add(x: 0..3; y: 0..3): 0..3; begin return x + y; end;
function flip(var it: boolean): boolean; begin it := !it; return it; end;
procedure reset(var it: 0..3); begin it := 0; end;
function assigns(x: 0..3; y: pair): 0..3; begin
  x := 1;
  y.left := 2;
  clear x;
  reset(x);
  alias z: x do z := 3; end;
  return x;
end;
function wrong(): 0..3; begin
  return;
  return true;
  return p;
end;
procedure returns(); begin return 1; end;
startstate begin
  n := add(1);
  n := add(1, 2, 3);
  n := add(true, p);
  n := add(undeclared, 1);
  reset();
  reset(1);
  reset(n + 1);
  reset(wide);
  reset(b);
  b := flip(true);
  return n;
end;
rule flip(b) ==> begin end;
rule begin return b; end;
invariant flip(b);
function indirect(): boolean; begin return flip(b); end;
function looks(var it: boolean): boolean; begin return it; end;
rule indirect() | looks(b) ==> begin end;
