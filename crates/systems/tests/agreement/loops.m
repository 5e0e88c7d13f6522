-- Loops: over types, with steps up and down, with computed bounds and with steps that lead
-- nowhere; while loops; loops too long to unroll; changed loop conditions; quantifiers of all kinds.
const SIZE: 90;
type
  position: 1..SIZE;
  bit: 0..1;
  short: 0..4;
var
  bits: array [position] of bit;
  from: short;
  upto: short;
  stride: -2..2;
  total: 0..200;
  turn: short;

startstate begin
  for p: position do bits[p] := p % 2; end;
  from := 0; upto := 4; stride := 1; total := 0; turn := 0;
end;

rule "count" turn = 0 ==> begin
  total := 0;
  for p := 1 to SIZE do total := total + bits[p]; end;
  turn := 1;
end;
rule "down" turn = 1 ==> begin
  total := 0;
  for p := 4 to 0 by -2 do total := total + p; end;
  for p := from to upto do total := total + 1; end;
  turn := 2;
end;
rule "computed" turn = 2 ==> begin
  for p := from to upto by stride do total := (total + p) % 7; end;
  turn := 3;
end;
rule "while" turn = 3 ==>
  var i: 0..100;
begin
  i := 0;
  while i < 100 & bits[(i % SIZE) + 1] = bits[((i + 2) % SIZE) + 1] do i := i + 1; end;
  total := i;
  turn := 4;
end;
rule "flip" turn = 4 ==> begin
  for p: position do
    if p % 3 = 0 then bits[p] := 1 - bits[p]; end;
    if p = 80 then
      for q := p to p + 3 do bits[q] := 0; end;
    end;
  end;
  turn := 0; stride := (stride + 3) % 5 - 2;
end;
ruleset f: short; t: short do
  rule "bounds" turn = 1 & from != f & (from + upto + f + t) % 3 = 0 ==> begin from := f; upto := t; end;
end;
rule "leave early" turn = 2 & total > 5 ==> begin
  for p: position do
    if bits[p] = 1 then turn := 4; return; end;
  end;
  turn := 3;
end;
invariant "some" exists p: position do bits[p] = 1 end;
invariant "steps" forall p := 1 to SIZE by 7 do bits[p] <= 1 end;
invariant "range" exists p := from to upto do p = from end;
invariant "nested" forall p: position do exists q := 0 to 1 do bits[p] = q end end;
