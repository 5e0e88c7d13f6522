-- A resource controller with priority classes.
--
-- Processes ask for one resource. It is granted to one of those that ask, of the highest priority
-- class among them. The first K - 1 classes have SIZE processes each and the last has the rest, so
-- that process 1 is in the highest class. Only the rule that grants tells processes apart, and each
-- instance of it only what is above, in and below one class. (After Sistla and Godefroid; the figures
-- are those of Wahl: Adaptive Symmetry Reduction, section 9.)
--
-- expect: holds
-- states: 388
-- rules fired: 624
-- with N=8, SIZE=2, K=4: states 1276, rules fired 2384

const
  N: 6;
  SIZE: 3;
  K: 2;

type
  process: 1 .. N;
  location: enum { idle, trying, granted, critical, done };

var
  at: array [process] of location;

-- The class of a process: the less, the more important.
function class(p: process): 0 .. N;
begin
  if (p - 1) / SIZE < K - 1 then
    return (p - 1) / SIZE;
  end;
  return K - 1;
end;

startstate "all idle"
  for p: process do
    at[p] := idle;
  end;
end;

ruleset p: process do

  rule "ask"
    at[p] = idle & forall q: process do at[q] = idle | at[q] = trying end
  ==>
    at[p] := trying;
  end;

  rule "grant"
    at[p] = trying
    & (forall q: process do at[q] = idle | at[q] = trying end)
    & (forall q: process do class(q) < class(p) -> at[q] != trying end)
  ==>
    at[p] := granted;
  end;

  rule "enter"
    at[p] = granted
  ==>
    at[p] := critical;
  end;

  rule "leave"
    at[p] = critical
  ==>
    at[p] := done;
  end;

  rule "rest"
    at[p] = done
  ==>
    at[p] := idle;
  end;

end;

invariant "one at a time"
  forall p: process do
    at[p] = idle | at[p] = trying
    | forall q: process do q = p | at[q] = idle | at[q] = trying end
  end;
