-- A further condition written as in other languages.
var x: 0..3;

startstate begin x := 0; end;

rule begin
  if x = 0 then
    x := 1;
  elseif x = 1 then
    x := 2;
  end;
end;

rule begin
  if x = 0 then
    x := 1;
  else if x = 1 then
    x := 2;
  end;
end;
