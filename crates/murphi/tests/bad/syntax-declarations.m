-- Slips in declarations; every one is reported, and the others are read.
const
  N = 3;
  M := 4;
  K 5;

type
  small = 0..N;
  pair: record first: small, second: small; end;
  color: enum red, green, blue;
  table: array small of boolean;
  other: array [small] boolean;
  open: 0..;
  set: scalarset N;

var
  x: 0..N;
  y boolean;
  z, : small;
  u v: boolean;

startstate begin x := 0; end;
