-- One `end` too many, so that the rest of the rule stands outside.
var x: 0..3;

startstate begin x := 0; end;

rule x = 0 ==> begin
  if x = 0 then
    x := 1;
  end;
  end;
  x := 2;
end;

rule x = 1 ==> begin x := 0; end;
