-- Lamport's bakery, with few tickets.
--
-- A process takes a ticket that is greater than all others, and the one with the least ticket enters. To look for the greatest
-- ticket and to write the own one are two steps, so two processes may have the same: then the one with the smaller number enters. Each
-- question about all others is one step here. Tickets of the original grow without bound; here nobody looks for one while the last one
-- is in use.
-- (L. Lamport: A new solution of Dijkstra's concurrent programming problem, 1974.)
--
-- The mistake: of two processes with the same ticket, both may enter.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 2

const
  N: 3;        -- processes
  WRONG: 0;    -- whether the mistake is made
  TICKETS: 2;

type
  process: 1..N;
  ticket: 0..TICKETS;
  location: enum { outside, choosing, has_chosen, waiting, inside };

var
  at: array [process] of location;
  chosen: array [process] of ticket;  -- not written yet
  number: array [process] of ticket;

startstate "all outside"
  for p: process do
    at[p] := outside;
    number[p] := 0;
  end;
end;

ruleset p: process do

  rule "enter the doorway"
    at[p] = outside
  ==>
    at[p] := choosing;
  end;

  ruleset t: 1..TICKETS do
    rule "choose a ticket"
      at[p] = choosing
      & (forall q: process do number[q] < t end)
      & (t = 1 | exists q: process do number[q] = t - 1 end)
    ==>
      chosen[p] := t;
      at[p] := has_chosen;
    end;
  end;

  rule "leave the doorway"
    at[p] = has_chosen
  ==>
    number[p] := chosen[p];
    undefine chosen[p];
    at[p] := waiting;
  end;

  rule "enter"
    at[p] = waiting
    & forall q: process do
        q = p
        | (at[q] != choosing & at[q] != has_chosen
           & (number[q] = 0 | number[p] < number[q] | (number[p] = number[q] & (WRONG = 1 | p < q))))
      end
  ==>
    at[p] := inside;
  end;

  rule "leave"
    at[p] = inside
  ==>
    number[p] := 0;
    at[p] := outside;
  end;

end;

invariant "mutual exclusion"
  forall p: process do forall q: process do at[p] = inside & at[q] = inside -> p = q end end;
