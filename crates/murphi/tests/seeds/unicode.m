-- The operators of newer versions of rumur.
var
  x: 0..9;
  b: boolean;
startstate “begin” begin
  x ≔ 1;
  b ≔ false;
end;
rule “step” x ≤ 8 ∧ ¬b ⇒ begin
  x ≔ x × 2 ÷ 2 − 1 + 2;
end;
rule “back” x ≥ 9 ∨ b → x ≠ 0 ⇒ begin
  x ≔ 0;
end;
invariant ∀i: 0..9 do ∃j: 0..9 do i = j end end;
