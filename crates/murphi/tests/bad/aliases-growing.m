-- Aliases of aliases can stand for expressions that are too large.
var n: 0..3;
startstate begin n := 0; end;
alias a: n + n + n + n; b: a + a + a + a; c: b + b + b + b; d: c + c + c + c; e: d + d + d + d;
      f: e + e + e + e; g: f + f + f + f; h: g + g + g + g; i: h + h + h + h do
  rule i > 0 ==> begin n := 1; end;
end;
