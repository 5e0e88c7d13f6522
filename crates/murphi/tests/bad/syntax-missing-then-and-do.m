-- Headers without their closing keyword, or with that of another statement.
var x: 0..3;

startstate begin x := 0; end;

rule begin
  if x = 0
    x := 1;
  elsif x = 1 do
    x := 2;
  else
    x := 0;
  end;
  for i: 0..3
    x := i;
  end;
  for i := 0 to 3 then
    x := i;
  end;
  while x > 0
    x := x - 1;
  end;
  alias a: x
    a := 1;
  end;
end;

ruleset i: 0..3
  rule x = i ==> begin x := 0; end;
end;
