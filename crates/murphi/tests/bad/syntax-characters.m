-- Characters that Murphi does not know.
var
  größe: 0..3;
  _x: 0..3;
  x: 0…3;

startstate begin
  x := 0 $ 1;
  x := 'a';
  x @@ 3;
  #if FIRST
  x := 0;
end;

rule x = 0 ==> begin { x := 1; } end;
