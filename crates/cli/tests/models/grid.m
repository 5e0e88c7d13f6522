-- Large arrays, and parameters that are arrays and records.
type
  line: array[1..2] of boolean;
  point: record x: 1..1; end;
var
  cells: array[1..3] of array[1..4] of boolean;
  marks: array[1..3] of array[1..9] of 0..1;
  first: line;
ruleset row: line; at: point do
  startstate "any row"
  begin
    clear cells;
    undefine marks;
    marks[2][2] := at.x;
    first := row;
  end;
end;
rule "fill" !cells[3][4] ==> begin cells[3][4] := true; end;
