-- Rules with many instances, most of which cannot fire whatever the state: conditions on parameters say so.
type
  number: 0..25;
  small: 0..1;

var
  count: array [small] of 0..7;

startstate
begin
  for i: small do count[i] := 0; end;
end;

ruleset x: number; y: number; z: number do
  rule "few"
    x > 23 & (y = x -> false) & (z < 2 ? x = 24 : y = 0) & count[x % 2] < 7
  ==>
    count[x % 2] := count[x % 2] + 1;
  end;
end;

ruleset x: number; y: number; z: number do
  rule "goes wrong where x is 3"
    count[0] = 2 & 6 / (x - 3) > 7 & x > 24
  ==>
    count[0] := 0;
  end;
end;

ruleset x: number; y: number; z: number do
  rule "goes wrong where x is 2"
    6 / (x - 2) > 7 & count[0] = 2
  ==>
    count[1] := 0;
  end;
end;
