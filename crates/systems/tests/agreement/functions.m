-- Functions: by value and by reference, results of array and record type, side effects in
-- expressions, early returns, recursion with references, missing returns, values out of range.
const N: 3;
type
  index: 0..N-1;
  small: 0..5;
  pair: record first: small; second: boolean; end;
  row: array [index] of small;
  grid: array [index] of row;
var
  count: small;
  rows: grid;
  best: pair;
  pairs: array [index] of pair;
  flag: boolean;

function next(i: index): index;
begin return (i + 1) % N; end;

function clamp(v: 0..100): small;
begin
  if v > 5 then return 5; end;
  return v;
end;

-- Faults for large values: the result is out of range.
function risky(v: small): 0..3;
begin return v; end;

-- Falls off its end for even values.
function odd(v: small): boolean;
begin
  if v % 2 = 1 then return true; end;
end;

function bump(var v: small): small;
var old: small;
begin
  old := v;
  v := clamp(v + 1);
  return old;
end;

procedure swap(var a: small; var b: small);
var t: small;
begin t := a; a := b; b := t; end;

procedure rotate(var r: row);
var copy: row;
begin
  copy := r;
  for i: index do r[next(i)] := copy[i]; end;
end;

function sum(r: row): 0..20;
var s: 0..20;
begin
  s := 0;
  for i: index do s := s + r[i]; end;
  return s;
end;

function make(v: small; b: boolean): pair;
var p: pair;
begin
  p.first := v;
  p.second := b;
  return p;
end;

-- Recursion with a reference that is passed on.
procedure fill(var r: row; i: index; v: small);
begin
  r[i] := v;
  if i > 0 then fill(r, i - 1, clamp(v + 1)); end;
end;

function depth(v: small): small;
begin
  if v = 0 then return 0; end;
  return clamp(depth(v - 1) + 1);
end;

function largest(r: row): small;
var m: small;
begin
  m := 0;
  for i: index do
    if r[i] = 5 then return 5; end;
    if r[i] > m then m := r[i]; end;
  end;
  return m;
end;

startstate begin
  count := 0;
  for i: index do
    for j: index do rows[i][j] := 0; end;
    pairs[i] := make(0, false);
  end;
  best := make(0, true);
  flag := false;
end;

rule "bump" count < 5 ==> begin best.first := bump(count); end;
rule "bump twice" count < 3 ==> begin best.first := clamp(bump(count) + bump(count)); end;
rule "reset" count = 5 ==> begin count := 0; clear best; end;
ruleset i: index do
  rule "swap" rows[i][0] != rows[i][1] ==> begin swap(rows[i][0], rows[i][1]); end;
  rule "fill" sum(rows[i]) = 0 & count = 2 ==> begin fill(rows[i], next(i), 1); end;
  rule "rotate" largest(rows[i]) = 2 & count = 3 ==> begin rotate(rows[i]); end;
  rule "dynamic" count <= 2 & flag ==> begin rows[count][next(i)] := clamp(rows[count][i] + 1); end;
  rule "pair" pairs[i] != best & count = 1 ==> begin pairs[i] := best; end;
  rule "made" pairs[i] = make(0, true) ==> begin pairs[i] := make(clamp(count), !pairs[i].second); end;
  rule "recursive" depth(count) = 4 & i = 0 ==> begin flag := !flag; rows[i][i] := depth(count) % 3; end;
end;
rule "wrong result" count = 5 & flag & risky(count) = 3 ==> begin count := 0; end;
rule "no result" count = 4 & flag & odd(count) ==> begin count := 1; end;
invariant "sums" forall i: index do sum(rows[i]) <= 15 end;
invariant "pairs" forall i: index do pairs[i].first <= 5 end;
