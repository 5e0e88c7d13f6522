mtype := { one, two };
inline next(v) { return v + 1 }
byte x := 1, y = 2;
unsigned z : 3 := 4;
byte a[2] := 5;
active proctype p() {
  byte local := 3;
  x := 1;
again: y := x + 1;
  a[1] := x;
  x := next(y);
  do
  :: x := 2; break
  :: y:= 3 -> goto again
  od;
  for (y := 1 .. 3) { x = y };
  select (y := 1 .. 3)
}
