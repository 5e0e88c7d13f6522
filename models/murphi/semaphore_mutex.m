-- Mutual exclusion by a semaphore.
--
-- A process is not trying, trying or critical, and enters when the semaphore is free. All processes
-- are alike: a state is how many are in which of these (figure 7 of Wahl and Donaldson: Replication
-- and Abstraction, 2010), so that --engine counters stores 2N + 1 states, for any N.
--
-- expect: holds
-- states: 48
-- rules fired: 144
-- with N=10: states 6144, rules fired 38400

const
  N: 4;

type
  process: scalarset(N);
  location: enum { not_trying, trying, critical };

var
  at: array [process] of location;
  is_free: boolean;

startstate "nobody is trying"
  for p: process do
    at[p] := not_trying;
  end;
  is_free := true;
end;

ruleset p: process do

  rule "try"
    at[p] = not_trying
  ==>
    at[p] := trying;
  end;

  rule "enter"
    at[p] = trying & is_free
  ==>
    at[p] := critical;
    is_free := false;
  end;

  rule "leave"
    at[p] = critical
  ==>
    at[p] := not_trying;
    is_free := true;
  end;

end;

invariant "one at a time"
  forall p: process do
    forall q: process do
      p != q -> !(at[p] = critical & at[q] = critical)
    end
  end;
