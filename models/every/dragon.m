-- The protocol of the Dragon workstation: writes to shared lines update the other copies.
--
-- The states of one line in N caches that watch one bus: a step is one transaction of the bus.
-- (G. Delzanno: Automatic verification of parameterized cache coherence protocols, CAV 2000.)
--
-- The mistake: a write to a shared copy leaves another shared copy dirty.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;      -- caches
  WRONG: 0;  -- whether the mistake is made

type
  node: scalarset(N);
  line: enum { invalid, exclusive, shared_clean, shared_dirty, dirty };

var
  at: array [node] of line;

startstate "no copies"
  for n: node do
    at[n] := invalid;
  end;
end;

ruleset n: node do

  rule "read miss, no copies"
    at[n] = invalid
    & (forall m: node do m = n | at[m] = invalid end)
  ==>
    at[n] := exclusive;
  end;

  rule "read miss, other copies"
    at[n] = invalid
    & (exists m: node do m != n & at[m] != invalid end)
  ==>
    for m: node do
      if m != n then
        if at[m] = dirty then at[m] := shared_dirty; end;
        if at[m] = exclusive then at[m] := shared_clean; end;
      end;
    end;
    at[n] := shared_clean;
  end;

  rule "write to an exclusive copy"
    at[n] = exclusive
  ==>
    at[n] := dirty;
  end;

  rule "write to the only shared copy"
    (at[n] = shared_clean | at[n] = shared_dirty)
    & (forall m: node do m = n | at[m] = invalid end)
  ==>
    at[n] := dirty;
  end;

  rule "write to a shared copy, other copies"
    (at[n] = shared_clean | at[n] = shared_dirty)
    & (exists m: node do m != n & at[m] != invalid end)
  ==>
    for m: node do
      if m != n then
        if at[m] = shared_dirty & WRONG = 0 then at[m] := shared_clean; end;
      end;
    end;
    at[n] := shared_dirty;
  end;

  rule "write miss, no copies"
    at[n] = invalid
    & (forall m: node do m = n | at[m] = invalid end)
  ==>
    at[n] := dirty;
  end;

  rule "write miss, other copies"
    at[n] = invalid
    & (exists m: node do m != n & at[m] != invalid end)
  ==>
    for m: node do
      if m != n then
        if at[m] != invalid then at[m] := shared_clean; end;
      end;
    end;
    at[n] := shared_dirty;
  end;

  rule "replace"
    at[n] != invalid
  ==>
    at[n] := invalid;
  end;

end;

invariant "an exclusive or dirty copy is the only one"
  forall n: node do
    at[n] = exclusive | at[n] = dirty -> forall m: node do m = n | at[m] = invalid end
  end;

invariant "one shared dirty copy"
  forall n: node do
    at[n] = shared_dirty -> forall m: node do m = n | at[m] != shared_dirty end
  end;
