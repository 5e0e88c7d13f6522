-- A section of declarations ends what was left open.
var x: 0..3;

procedure reset();
begin
  x := 0;

var y: boolean;

startstate begin reset(); y := true; end;

rule y ==> begin
  x := 1;
  var z: 0..3;
  z := x;
  y := false;
end;
