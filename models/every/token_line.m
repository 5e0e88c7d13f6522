-- A token goes through a line of processes, from the first to the last one.
--
-- The first process is the one before which there is none, and the next one after a process is the one such that there is none
-- between them: an order needs no numbers.
--
-- The mistake: the token is passed to any process behind.
--
-- every N: holds
-- every N with WRONG=1: violated with N = 3

const
  N: 3;      -- processes
  WRONG: 0;  -- whether the mistake is made

type
  process: 1..N;

var
  token: process;  -- undefined at first
  is_done: array [process] of boolean;

startstate "nobody has worked"
  for p: process do
    is_done[p] := false;
  end;
end;

ruleset p: process do

  rule "begin"
    isundefined(token) & forall q: process do p <= q end
  ==>
    token := p;
  end;

  rule "work"
    !isundefined(token) & token = p
  ==>
    is_done[p] := true;
  end;

  ruleset q: process do
    rule "pass the token on"
      !isundefined(token) & token = p & is_done[p] & p < q
      & (WRONG = 1 | forall r: process do r <= p | q <= r end)
    ==>
      token := q;
    end;
  end;

end;

invariant "all before the token have worked"
  isundefined(token) | forall p: process do p < token -> is_done[p] end;
