-- Names that are not declared, or not yet, with the nearest one that is.
const Size: 3;
type Index: 0..Size;
var count: Index;
var slots: array [Idnex] of boolean;
function next(i: Index): Index; begin return (i + 1) % (Size + 1); end;
startstate begin
  cuont := size;
  Count := 0;
  limit := 1;
  count := nxt(count);
  advance();
end;
rule later = 0 ==> begin count := increment(count); end;
invariant forall j: Index do slots[k] end;
var later: Index;
function increment(i: Index): Index; begin return i; end;
procedure advance(); begin count := next(count); end;
