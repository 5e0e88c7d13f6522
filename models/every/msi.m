-- The MSI protocol.
--
-- The states of one line in N caches that watch one bus: a step is one transaction of the bus.
-- (G. Delzanno: Automatic verification of parameterized cache coherence protocols, CAV 2000, of its kind.)
--
-- The mistake: a read miss leaves a modified copy as it is.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- caches
  WRONG: 0;  -- whether the mistake is made

type
  node: scalarset(N);
  line: enum { invalid, shared, modified };

var
  at: array [node] of line;

startstate "no copies"
  for n: node do
    at[n] := invalid;
  end;
end;

ruleset n: node do

  rule "read miss"
    at[n] = invalid
  ==>
    for m: node do
      if m != n then
        if at[m] = modified & WRONG = 0 then at[m] := shared; end;
      end;
    end;
    at[n] := shared;
  end;

  rule "write"
    at[n] != modified
  ==>
    for m: node do
      if m != n then
        at[m] := invalid;
      end;
    end;
    at[n] := modified;
  end;

  rule "replace"
    at[n] != invalid
  ==>
    at[n] := invalid;
  end;

end;

invariant "a modified copy is the only one"
  forall n: node do
    at[n] = modified -> forall m: node do m = n | at[m] = invalid end
  end;
