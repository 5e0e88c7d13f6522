-- A ticket lock: processes draw a ticket and are served in the order of their tickets.
--
-- Tickets are counted modulo N, which is enough: no more than N processes can hold one.
--
-- expect: holds
-- states: 93
-- rules fired: 171
-- with N=5: states 3255, rules fired 6475

const
  N: 3;  -- processes

type
  process: 1..N;
  ticket: 0 .. N - 1;
  location: enum { idle, waiting, critical };

var
  at: array [process] of location;
  drawn: array [process] of ticket;  -- undefined while idle
  next: ticket;     -- the ticket that is drawn next
  serving: ticket;  -- the ticket that is served now

startstate "all idle"
  for p: process do
    at[p] := idle;
  end;
  next := 0;
  serving := 0;
end;

ruleset p: process do

  rule "draw a ticket"
    at[p] = idle
  ==>
    drawn[p] := next;
    next := (next + 1) % N;
    at[p] := waiting;
  end;

  rule "enter"
    at[p] = waiting & drawn[p] = serving
  ==>
    at[p] := critical;
  end;

  rule "leave"
    at[p] = critical
  ==>
    serving := (serving + 1) % N;
    undefine drawn[p];
    at[p] := idle;
  end;

end;

invariant "mutual exclusion"
  forall p: process do
    forall q: process do
      at[p] = critical & at[q] = critical -> p = q
    end
  end;

invariant "no two hold the same ticket"
  forall p: process do
    forall q: process do
      p != q & at[p] != idle & at[q] != idle -> drawn[p] != drawn[q]
    end
  end;

ruleset p: process do
  liveness "everyone can enter again" at[p] = critical;
end;
