-- The values of a scalarset are interchangeable: no numbers, no order, no steps.
type
  node: scalarset(3);
  cell: scalarset(4);
  copy: scalarset(3);
var
  owner: node; where: cell; twin: copy; n: 0..3; b: boolean;
  visited: array [node] of boolean;
startstate begin
  owner := 1;
  n := owner;
  owner := where;
  n := owner + 1;
  n := -owner;
  b := owner < owner;
  b := owner = 2;
  b := owner = where;
  visited[0] := true;
  visited[where] := true;
  for i := owner to owner do visited[i] := true; end;
  b := forall i := 0 to owner do true end;
  switch owner case 1: n := 0; end;
  -- A scalarset of the same size is accepted with a warning.
  owner := twin;
  visited[twin] := true;
end;
