-- The same name twice in one scope. Inner scopes may use it again.
const Size: 3;
type
  Size: 0..1;
  Colour: enum {red, green, red};
  Light: enum {green, amber};
  Pair: record left: boolean; right: boolean; left: 0..3; end;
var
  count: 0..3;
  count: boolean;
  amber: boolean;
function twice(a: boolean; a: boolean): boolean; var b: boolean; b: boolean; begin return a; end;
procedure twice(); begin end;
function own(own: boolean): boolean; begin return own; end;
ruleset i: 0..1; i: 0..2 do
  rule "shadowing is fine" var count: boolean; i: boolean; begin
    for count: 0..1 do
      alias i: count do i := 1; end;
    end;
    alias a: count; a: i do end;
  end;
end;
const true: 1;
startstate begin end;
