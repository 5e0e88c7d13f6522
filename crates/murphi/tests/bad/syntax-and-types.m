-- A syntax error does not hide errors of other kinds, and causes none.
type
  small: 0..3;
  broken: 0.. ;

var
  x: small;
  lost: broken;
  b: boolean;

startstate begin
  x := true;
  lost := 3;
  b := lost = 2;
end;

rule b ==> begin
  x := ;
  b := x;
end;
