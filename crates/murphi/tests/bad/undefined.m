-- The word `undefined` where no value will do.
type
  index: 0..3;
  pair: record left: index; right: index; end;

var
  x: index;
  p: pair;

procedure write(var target: index; value: index);
begin
  target := value;
end;

function nothing(): index;
begin
  return undefined;
end;

startstate begin
  x := undefined;
  p := undefined;
  write(x, undefined);
  write(undefined, 1);
  x := undefined + 1;
  if p = undefined then x := 0; end;
  switch x case undefined: x := 1; end;
end;

rule x != undefined ==> begin x := undefined; end;
