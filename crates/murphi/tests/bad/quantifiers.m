-- Steps that never arrive, and ruleset parameters that are not constant.
type pair: record left: 0..3; end;
var n: 0..9; b: boolean; m: multiset[2] of boolean;
startstate begin
  for i := 0 to 5 by 0 do n := i; end;
  for i := 5 to 0 do n := i; end;
  for i := 5 to 0 by 1 do n := i; end;
  for i := n to 5 by 0 do n := i; end;
  for i := true to 5 do n := i; end;
  b := exists i := 0 to 3 by -1 do true end;
  for i := n to 0 do n := i; end;
end;
ruleset i := 0 to n do rule begin end; rule begin end; end;
ruleset i := 0 to 5; j := 0 to i do rule begin end; end;
ruleset i := 3 to 0 do invariant true; end;
ruleset every: pair do rule begin n := every.left; end; end;
ruleset every: multiset[2] of boolean do rule begin end; end;
ruleset empty: 3..0 do end;
