-- Slips in `switch`.
var x: 0..3;

startstate begin x := 0; end;

rule begin
  switch x
    case 0 x := 1;
    case 1, , 2: x := 2;
    case: x := 0;
    default: x := 3;
  end;
  switch
    case 1: x := 0;
    else x := 1;
  endswitch;
  x := 2;
end;
