-- Unions hold scalarsets and enumerations.
type
  node: scalarset(2);
  extra: enum {home, nowhere};
  all: union {node, extra};
  bad: union {node, 0..3, boolean, scalarset(2)};
  twice: union {node, node};
  numbers: union {all, enum {one, two}};
var x: all; y: node; n: 0..3; e: enum {other};
startstate begin
  x := home;
  y := x;
  x := 1;
  x := other;
  n := x;
  if ismember(x, node) & ismember(x, 0..3) & ismember(n, extra) then y := x; end;
  for i: numbers do x := i; end;
  x := one;
end;
