-- Ranges, scalarsets, arrays and multisets without values or with too many.
const N: 4;
type
  empty: N..N - 1;
  nobody: scalarset(0);
  negative: scalarset(0 - N);
  none: multiset[0] of boolean;
  nothing: enum {};
  letter: enum {a, b};
  word: array [0..3] of letter;
  indexed: array [word] of boolean;
  named: a..b;
  nested: multiset[3] of multiset[2] of boolean;
  everything: array [-9223372036854775807 - 1..9223372036854775807] of boolean;
var
  x: array [empty] of boolean;
  wide: array [0..1048575] of array [0..1] of boolean;
startstate begin x[0] := true; end;
rule var large: array [0..99999999] of boolean; begin large[0] := true; end;
rule var hollow: array [0..999999] of array [0..999999] of record end; begin clear hollow; end;
