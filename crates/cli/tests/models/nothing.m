-- What has no value, where it can and where it cannot be said.
type
  value: 0..3;
var
  x, y: value;

procedure send(v: value);
begin
  x := v;
end;

function get(var v: value): value;
begin
  return undefined;
end;

startstate begin
  send(undefined);
  x := get(undefined);
  y := undefined + 1;
end;
