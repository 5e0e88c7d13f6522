-- Undefined cells: read, copied, compared, passed on, cleared; unions, scalarsets, enumerations.
const N: 2;
type
  id: scalarset(N);
  colour: enum {red, green, blue};
  any: union {id, colour};
  wide: 0..200;
  cell: record owner: any; level: wide; tint: colour; end;
var
  owner: any;
  cells: array [id] of cell;
  saved: cell;
  level: wide;
  tint: colour;
  marks: array [any] of boolean;

function passes(x: any): boolean;
begin return isundefined(x); end;

startstate "nothing" begin for i: id do cells[i].level := 0; end; level := 199; end;
startstate "something" begin
  clear cells; clear saved; clear level; clear tint; clear marks;
  undefine owner;
end;
ruleset i: id do
  rule "own" isundefined(owner) ==> begin owner := i; end;
  rule "store" !isundefined(owner) & isundefined(cells[i].owner) ==> begin cells[i].owner := owner; end;
  rule "copy" cells[i].level < 2 & !isundefined(saved.level) ==> begin saved := cells[i]; end;
  rule "raise" cells[i].level < 3 ==> begin cells[i].level := cells[i].level + 1; end;
  rule "same" saved = cells[i] & cells[i].level = 1 ==> begin undefine cells[i]; cells[i].level := 3; end;
  rule "index" !isundefined(owner) & !isundefined(tint) ==> begin marks[owner] := marks[i] | marks[red]; end;
  rule "member" !isundefined(cells[i].owner) & ismember(cells[i].owner, id) ==> begin cells[i].owner := blue; end;
  rule "unguarded" level = 2 & cells[i].owner = green ==> begin level := 3; end;
end;
ruleset c: colour do
  rule "tint" tint = c & c != blue ==> begin
    switch c
      case red: tint := green;
      case green: tint := blue;
    end;
  end;
  rule "colour" owner = c ==> begin undefine owner; end;
end;
rule "pass on" passes(owner) & level = 0 ==> begin level := 1; end;
rule "overflow" level >= 198 ==> begin level := level + 1; end;
rule "step" level = 1 ==> begin level := 2; clear cells; end;
invariant "levels" forall i: id do cells[i].level <= 3 end;
cover "blue" exists i: id do !isundefined(cells[i].owner) & cells[i].owner = blue end;
