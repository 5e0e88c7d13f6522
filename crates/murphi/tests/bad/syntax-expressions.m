-- Expressions that break off, or do not say what belongs together.
var
  x, y: 0..9;
  b: boolean;
  a: array [0..9] of 0..9;

startstate begin x := ; end;

rule x + = y ==> begin
  x := (x + 1;
  y := a[x;
  x := a[x + ];
  x := x +* y;
  b := b -> b -> b;
  b := x < y < 3;
  x := b ? 1 : b ? 2 : 3;
  b := x <> y;
  b := x =< y;
  b := b and not b;
  b := b or b;
  x := x mod 3;
  x := 3x;
  b := !;
  y := f(x, , y);
  y := a.[3];
  y := a.3;
end;
