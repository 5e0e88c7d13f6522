-- The towers of Hanoi.
--
-- Discs are numbered by size, the smallest first, and all start on peg 1. A disc can move when no
-- smaller one lies on it or on its target. Pegs 2 and 3 are interchangeable.
--
-- expect: violated invariant "the tower never arrives"
-- states: 19
-- rules fired: 45
-- with DISCS=6: states 686, rules fired 1930

const
  DISCS: 3;

type
  disc: 1 .. DISCS;
  peg: 1..3;

var
  on: array [disc] of peg;

startstate "all on the first peg"
  for d: disc do
    on[d] := 1;
  end;
end;

ruleset d: disc; target: peg do
  rule "move"
    on[d] != target
    & (forall e: disc do e < d -> on[e] != on[d] & on[e] != target end)
  ==>
    on[d] := target;
  end;
end;

-- The violation is a solution, in 2^DISCS - 1 moves.
invariant "the tower never arrives"
  forall p: peg do p = 1 | exists d: disc do on[d] != p end end;
