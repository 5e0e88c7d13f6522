-- Two-phase commit: N resource managers and a transaction manager agree to commit or to abort.
--
-- A resource manager prepares, or aborts on its own. When all have said that they are prepared, the
-- transaction manager decides to commit; until then it may decide to abort. Messages are never
-- lost, and a message once sent can be received again and again, so the network is the set of all
-- messages sent so far. (The same protocol, and the same number of states, as the specification in
-- Gray and Lamport: Consensus on Transaction Commit.)
--
-- Nothing can happen after the decision has reached everyone, so that is no deadlock.
--
-- expect: holds
-- deadlock: off
-- states: 288
-- sliced states: 136
-- rules fired: 1145
-- with N=5: states 8832, rules fired 58145

const
  N: 3;  -- resource managers

type
  manager: 1..N;
  manager_state: enum { working, prepared, committed, aborted };
  decision: enum { undecided, commit, abort };

var
  state: array [manager] of manager_state;
  decided: decision;
  heard_prepared: array [manager] of boolean;  -- what the transaction manager knows

  -- The messages sent so far.
  sent_prepared: array [manager] of boolean;
  sent_commit: boolean;
  sent_abort: boolean;

startstate "all working"
  for m: manager do
    state[m] := working;
    heard_prepared[m] := false;
    sent_prepared[m] := false;
  end;
  decided := undecided;
  sent_commit := false;
  sent_abort := false;
end;

-- The transaction manager.

ruleset m: manager do
  rule "hear that a manager is prepared"
    decided = undecided & sent_prepared[m]
  ==>
    heard_prepared[m] := true;
  end;
end;

rule "decide to commit"
  decided = undecided & forall m: manager do heard_prepared[m] end
==>
  decided := commit;
  sent_commit := true;
end;

rule "decide to abort"
  decided = undecided
==>
  decided := abort;
  sent_abort := true;
end;

-- The resource managers.

ruleset m: manager do

  rule "prepare"
    state[m] = working
  ==>
    state[m] := prepared;
    sent_prepared[m] := true;
  end;

  rule "abort on its own"
    state[m] = working
  ==>
    state[m] := aborted;
  end;

  rule "obey the commit"
    sent_commit
  ==>
    state[m] := committed;
  end;

  rule "obey the abort"
    sent_abort
  ==>
    state[m] := aborted;
  end;

end;

invariant "agreement"
  !exists m: manager do
    state[m] = committed & exists other: manager do state[other] = aborted end
  end;

invariant "commit only what all prepared"
  forall m: manager do
    state[m] = committed -> forall other: manager do sent_prepared[other] end
  end;
