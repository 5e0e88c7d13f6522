-- Keywords where names should stand.
const end: 3;

type
  boolean: 0..1;
  state: enum {begin, error, done};

var
  rule: state;
  to, by: boolean;

function clear(x: state): boolean;
begin
  return true;
end;

startstate begin
  rule := done;
  to := false;
end;

rule begin
  alias for: to do
    for := true;
  end;
end;
