-- The protocol of the Berkeley RISC machine.
--
-- The states of one line in N caches that watch one bus: a step is one transaction of the bus.
-- (G. Delzanno: Automatic verification of parameterized cache coherence protocols, CAV 2000.)
--
-- The mistake: the owner keeps its copy when another cache writes.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- caches
  WRONG: 0;  -- whether the mistake is made

type
  node: scalarset(N);
  line: enum { invalid, unowned, shared_owned, exclusive };

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
        if at[m] = exclusive then at[m] := shared_owned; end;
      end;
    end;
    at[n] := unowned;
  end;

  rule "write to a copy that others may have"
    at[n] = unowned | at[n] = shared_owned
  ==>
    for m: node do
      if m != n then
        if WRONG = 0 | at[m] != shared_owned then at[m] := invalid; end;
      end;
    end;
    at[n] := exclusive;
  end;

  rule "write miss"
    at[n] = invalid
  ==>
    for m: node do
      if m != n then
        at[m] := invalid;
      end;
    end;
    at[n] := exclusive;
  end;

  rule "replace"
    at[n] != invalid
  ==>
    at[n] := invalid;
  end;

end;

invariant "an exclusive copy is the only one"
  forall n: node do
    at[n] = exclusive -> forall m: node do m = n | at[m] = invalid end
  end;

invariant "one owner"
  forall n: node do
    at[n] = shared_owned -> forall m: node do m = n | at[m] != shared_owned end
  end;
