-- A quote is missing in the middle of the file.
var x: 0..3;

startstate "start" begin x := 0; end;

rule "first x = 0 ==> begin
  x := 1;
end;

rule "second" x = 1 ==> begin
  error "never closed;
end;

rule "third" x = 2 ==> begin x := 0; end;
