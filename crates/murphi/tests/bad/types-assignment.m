-- Values of the wrong type.
type
  colour: enum {red, green, blue};
  light: enum {on, off};
  pair: record left: 0..3; right: boolean; end;
  other: record left: 0..4; right: boolean; end;
  row: array [0..3] of boolean;
  short: array [0..2] of boolean;
var
  c: colour; l: light; n: 0..3; b: boolean; p: pair; o: other; r: row; s: short;
startstate begin
  c := 1;
  c := on;
  n := red;
  n := true;
  b := 1;
  b := n;
  p := o;
  p := n;
  n := p;
  r := s;
  r[red] := true;
  n := p.middle;
  n := p.lefft;
  n := c.left;
  b := p[0];
  b := n[0];
  b := r;
  n := b ? 1 : true;
  n := n ? 1 : 2;
  n := undeclared.left[0] + 1;
end;
