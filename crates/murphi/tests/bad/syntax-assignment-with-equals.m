-- `=` and `==` where `:=` is meant, and the reverse.
var
  x: 0..3;
  ready: boolean;

startstate begin
  x = 0;
  ready == false;
end;

rule "compare with assignment" x := 1 ==> begin
  x := 0;
end;

rule begin
  if ready := true then
    x := x + 1;
  end;
  while x := 3 do
    x := 0;
  end;
  x : 2;
end;
