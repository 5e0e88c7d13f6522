-- Properties where they cannot stand.
var n: 0..3; b: boolean; m: multiset[2] of 0..3;
procedure p(); begin liveness b; assert n; assume n; cover n; end;
choose i: m do
  startstate begin n := 0; end;
  liveness m[i] = 0;
  invariant m[i] < 3;
  rule begin i := 0; multisetremove(i, m); end;
end;
choose i: n do rule begin end; end;
rule begin
  multisetadd(b, m);
  multisetadd(1, n);
  multisetremove(b, m);
  multisetremovepred(i: n, true);
  multisetremovepred(i: m, m[i]);
  n := multisetcount(i: m, m[i]);
  n := multisetcount(i: n, true);
end;
