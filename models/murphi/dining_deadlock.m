-- A seeded bug, a deadlock: dining philosophers who all reach to the right first.
--
-- Each waits for its left fork, which its neighbour holds. It would be enough that one of them
-- reaches to the left first, as with POLITE = true.
--
-- expect: violated deadlock
-- deadlock: stuck
-- states: 34
-- rules fired: 80
-- with N=10: states 6726, rules fired 43140
-- with POLITE=true: holds, states 29, rules fired 72

const
  N: 4;           -- philosophers
  POLITE: false;  -- whether the last one is left-handed

type
  philosopher: 1..N;
  fork: 1..N;
  activity: enum { thinking, reaching, eating };

var
  doing: array [philosopher] of activity;
  holder: array [fork] of philosopher;  -- undefined while it lies on the table

function right_of(p: philosopher): fork;
begin
  return p;
end;

function left_of(p: philosopher): fork;
begin
  return p % N + 1;
end;

function left_handed(p: philosopher): boolean;
begin
  return POLITE & p = N;
end;

function first_of(p: philosopher): fork;
begin
  return left_handed(p) ? left_of(p) : right_of(p);
end;

function second_of(p: philosopher): fork;
begin
  return left_handed(p) ? right_of(p) : left_of(p);
end;

startstate "all thinking"
  for p: philosopher do
    doing[p] := thinking;
  end;
end;

ruleset p: philosopher do

  rule "take one fork"
    doing[p] = thinking & isundefined(holder[first_of(p)])
  ==>
    holder[first_of(p)] := p;
    doing[p] := reaching;
  end;

  rule "take the other fork"
    doing[p] = reaching & isundefined(holder[second_of(p)])
  ==>
    holder[second_of(p)] := p;
    doing[p] := eating;
  end;

  rule "put both forks back"
    doing[p] = eating
  ==>
    undefine holder[right_of(p)];
    undefine holder[left_of(p)];
    doing[p] := thinking;
  end;

end;

invariant "who eats holds both forks"
  forall p: philosopher do
    doing[p] = eating -> holder[right_of(p)] = p & holder[left_of(p)] = p
  end;
