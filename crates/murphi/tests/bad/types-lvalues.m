-- What cannot be changed.
const N: 3;
type colour: enum {red, green};
var n: 0..3; b: boolean; r: array [0..1] of boolean; s: array [0..1] of boolean;
startstate begin
  N := 1;
  red := green;
  clear N;
  undefine red;
  alias a: n + 1; t: b ? r : s do
    a := 1;
    t[0] := true;
    clear a;
    b := isundefined(a);
  end;
end;
alias k: 1 do rule begin k := 2; end; end;
