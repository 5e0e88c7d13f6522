-- The `end` of a quantifier is not that of the statement around it.
var
  x: 0..3;
  b: boolean;

startstate begin x := 0; b := true; end;

rule forall i: do i = x end ==> begin
  b := forall i 0..3 do i = x end;
  b := exists i: 0..3 do + end;
  b := forall i := 0 to do true endforall;
  b := forall i = 0 to 3 do true end;
  if exists i: 0..3 i = x end then
    x := 1;
  end;
  for i := 0 3 do
    x := i;
  end;
end;

rule b ==> begin x := 2; end;

ruleset i: 0..3; j do
  rule x = i ==> begin x := 0; end;
end;

invariant forall i: 0..3 do i = x;
