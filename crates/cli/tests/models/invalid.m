var
  count: 0..3;
  flag: boolean;
startstate begin
  cuont := 0;
  flag := 7;
end;
rule flag & count ==> begin
  count := count + missing;
end;
