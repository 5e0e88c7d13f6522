-- Every construct of the language that rumur reads.
const
  N: 3;
  Hexadecimal: 0x10;

type
  Index: 0..N - 1;
  Id: scalarset(N);
  Colour: enum {red, green, blue};
  Cell: record
    colour: Colour;
    count, other: Index;
    owner: Id;
  end;
  Row: array [Index] of Cell;

var
  x, y: Index;
  flag: boolean;
  colour: Colour;
  rows: array [Colour] of Row;
  owners: array [Id] of boolean;

function next(i: Index): Index;
begin
  return (i + 1) % N;
end;

function sum(var cell: Cell; extra: Index): 0..2 * N;
var
  total: 0..2 * N;
begin
  total := cell.count + extra;
  return total;
end;

procedure reset(var cell: Cell);
begin
  clear cell;
  undefine cell.owner;
endprocedure;

startstate "first"
begin
  clear x;
  y := 0;
  flag := false;
  colour := red;
  for c: Colour do
    for i: Index do
      reset(rows[c][i]);
    endfor;
  end;
  for i: Id do owners[i] := false; end;
endstartstate;

ruleset i: Index; j := 0 to N - 1 by 1 do
  startstate "each"
  begin
    clear rows; x := i; y := j; flag := true; colour := green;
    for k: Id do owners[k] := true; end;
  end;
end;

rule "advance" x < N - 1 & !flag ==>
var
  old: Index;
begin
  old := x;
  x := next(old);
  if x = y then
    flag := true;
  elsif x > y then
    y := x;
  else
    assert "not reached" x < y;
  endif;
endrule;

rule "arithmetic"
  (x + y) * 2 - 1 >= 0 -> x / 1 = y % 2 || (x << 1) >> 1 != (y & 1 | 2 ^ 3) && -x <= ~y
==>
begin
  switch colour
  case red, green:
    colour := blue;
  case blue:
    colour := red;
  else
    error "unknown colour";
  endswitch;
  while x > 0 & x != y do
    x := x - 1;
  endwhile;
  put "x is ";
  put x;
end;

ruleset i: Id do
  alias owner: owners[i]; first: rows[red][0] do
    rule "own" !owner ==>
    begin
      owner := true;
      first.owner := i;
      alias count: first.count do
        count := sum(first, 0) > N - 1 ? 0 : count;
      end;
    end;

    rule "leave" owner & !isundefined(first.owner) ==>
    begin
      owner := false;
      if first.owner = i then undefine first.owner; end;
      return;
    end;
  end;

  cover "owned" owners[i];
end;

invariant "bounds" forall i: Index do i >= 0 & i < N endforall;
invariant exists c: Colour do c = colour end "some colour";
assume true;
assert x <= N;
liveness "back" x = 0;
