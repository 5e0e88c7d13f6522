-- Three initial states, two of them joined by a rule.
var x: 0..2;
ruleset v: 0..2 do
  startstate "from" begin x := v; end;
end;
rule "up" x = 0 ==> begin x := 1; end;
