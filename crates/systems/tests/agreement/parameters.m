-- Parameters: of array and record type, ranges with steps, rules with very many instances, locals.
const N: 3;
type
  colour: enum {red, green, blue};
  index: 0..N-1;
  painting: array [index] of colour;
  pair: record low: index; high: boolean; end;
  many: 0..47;
var
  canvas: painting;
  chosen: pair;
  number: many;
  steps: 0..40;

ruleset p: painting do
  startstate "any" begin
    canvas := p;
    clear chosen;
    number := 0;
    steps := 0;
  end;
end;
ruleset p: pair do
  rule "choose" chosen != p & number = 0 ==> begin chosen := p; end;
end;
ruleset a: many; b: many do
  rule "sum" a + b = 47 & number = 0 & a < 3 ==> begin number := b; end;
  rule "very rare" a = number & b = a / 2 & number > 30 ==> begin number := b; end;
end;
ruleset s := 2 to 10 by 4 do
  rule "step" number > 20 & number <= 30 & steps < 30 ==>
    var previous: many; all: painting;
  begin
    previous := number;
    number := previous - s;
    steps := steps + s;
    all := canvas;
    for i: index do canvas[(i + 1) % N] := all[i]; end;
  end;
end;
ruleset i: index do
  invariant "painted" !isundefined(canvas[i]);
  liveness "red again" canvas[i] = red | forall j: index do canvas[j] != red end;
  cover "blue" canvas[i] = blue;
end;
