-- Clients that are declared interchangeable, and a rule that prefers the last: a loop takes the values
-- of a scalarset in an order.
const
  N: 3;

type
  client: scalarset(N);
  holder: union { client, enum { nobody } };

var
  asks: array [client] of boolean;
  owner: holder;

startstate "free"
  for c: client do
    asks[c] := false;
  end;
  owner := nobody;
end;

ruleset c: client do
  rule "ask"
    !asks[c]
  ==>
    asks[c] := true;
  end;

  rule "give back"
    owner = c
  ==>
    owner := nobody;
  end;
end;

rule "grant"
  owner = nobody
==>
  for c: client do
    if asks[c] then
      owner := c;
    end;
  end;
end;
