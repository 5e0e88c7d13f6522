-- Constructs closed with the `end` of another one.
var x: 0..3;

startstate begin x := 0; endrule;

rule begin
  for i: 0..3 do
    if x = i then
      x := 0;
    endfor;
  end;
endrule;

ruleset i: 0..3 do
  rule x = i ==> begin
    while x < 3 do
      x := x + 1;
    endif;
  endrule;
endruleset;
