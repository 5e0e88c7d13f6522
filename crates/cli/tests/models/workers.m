-- Workers that are all alike, and properties that treat them alike or not.

const
  N: 4;

type
  worker: 1 .. N;
  place: enum { resting, working, done };

var
  at: array[worker] of place;
  last: 0 .. N;

startstate "all rest"
begin
  for w: worker do
    at[w] := resting;
  end;
  last := 0;
end;

ruleset w: worker do

  rule "begin" at[w] = resting ==>
  begin
    at[w] := working;
    last := w;
  end;

  rule "finish" at[w] = working ==>
  begin
    at[w] := done;
  end;

  rule "rest" at[w] = done ==>
  begin
    at[w] := resting;
  end;

  liveness "works again" at[w] = working;

end;

invariant "somebody was last" last = 0 -> forall w: worker do at[w] = resting end;

invariant "the first does not finish before anybody began" at[1] != done | last != 0;

cover "all work" forall w: worker do at[w] = working end;
