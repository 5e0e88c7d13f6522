-- Many states: independent counters.
type digit: 0..9;
var digits: array[1..7] of digit;
startstate "zero" begin for i: 1..7 do digits[i] := 0; end; end;
ruleset i: 1..7 do
  rule "turn" true ==> begin digits[i] := (digits[i] + 1) % 10; end;
end;
