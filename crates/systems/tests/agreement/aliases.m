-- Aliases of statements and rules, with indices that change afterwards; chosen records; assumptions,
-- covers and assertions in statements; division; shifts; conditional expressions.
type
  index: 0..3;
  value: -8..7;
  thing: record v: value; used: boolean; end;
var
  things: array [index] of thing;
  at: index;
  other: index;
  result: -1000..1000;

startstate begin
  for i: index do things[i].v := i; things[i].used := false; end;
  at := 0; other := 1; result := 0;
end;

alias here: things[at]; there: things[other] do
  rule "move" !here.used ==> begin
    at := (at + 1) % 4;
    -- The alias still stands for the old place.
    here.used := true;
  end;
  rule "swap" here.v != there.v & here.used & !there.used ==>
    var t: value;
  begin
    t := here.v; here.v := there.v; there.v := t;
    there.used := true;
  end;
end;
rule "other" things[other].used ==> begin
  alias o: other; t: things[o] do
    o := (o + 1) % 4;
    t.v := t.v - 1;
  end;
end;
rule "divide" things[at].used & result = 0 ==> begin
  result := things[at].v / things[other].v * 10 + things[at].v % (things[other].v - 1);
end;
rule "shift" result != 0 ==> begin
  result := (result << 1) & 15 | (result >> 2) ^ ~things[other].v & 7;
end;
rule "choose" result > 3 ==> begin
  things[other] := things[at].used ? things[at] : things[0];
  result := (things[other].v < 0 ? -things[other].v : things[other].v) - 1;
end;
ruleset i: index do
  rule "assume" things[i].v = 2 & !things[i].used ==> begin
    assume other != i;
    cover things[other].used;
    things[i].used := true;
  end;
  rule "assert" things[i].v = -3 ==> begin
    assert "not used" things[i].used;
    things[i].v := 3;
  end;
end;
assume "small" forall i: index do things[i].v > -6 end;
cover "all used" forall i: index do things[i].used end;
invariant "range" result > -900;
