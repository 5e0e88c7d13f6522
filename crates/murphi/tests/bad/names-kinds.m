-- Names of the wrong kind.
const Limit: 3;
type Index: 0..Limit;
var x: Index;
function f(): Index; begin return 0; end;
procedure p(); begin end;
var y: x;
var z: Limit;
var w: f;
startstate begin
  x := Index;
  x := f;
  x := x();
  Limit();
  x := p();
  f();
end;
rule var f: Index; begin f := 1; x := f(); end;
