-- Constants that are not constant, or have no value.
const
  large: 9223372036854775807;
  overflow: large + 1;
  product: large * 2;
  quotient: 1 / 0;
  remainder: 7 % (large - large);
  shifted: 1 << 64;
  negated: -(-large - 1);
  fine: false & 1 / 0 = 1;
  chosen: true ? 1 : 1 / 0;
  follows: overflow + 1;
var x: 0..3;
function f(): 0..3; begin return 1; end;
const
  variable: x;
  call: f();
  choice: true ? 1 : x;
  complex: (forall i: 0..3 do i = i end);
var
  y: 0..x;
  z: f()..3;
  w: 0..true;
startstate begin x := 0; end;
ruleset i: 0..3 do
  rule var local: 0..i; begin local := 0; end;
end;
