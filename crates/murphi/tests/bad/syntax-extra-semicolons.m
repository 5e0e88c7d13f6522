-- Semicolons where nothing precedes them.
;
var x: 0..3;

startstate begin
  ; x := 0;
end;

rule begin
  if x = 0 then ;
    x := 1;
  end;
end;
