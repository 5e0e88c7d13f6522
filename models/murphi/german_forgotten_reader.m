-- A seeded bug, an invariant violated: German's protocol with a reader that home forgets.
--
-- The protocol of german.m without data. When home grants a shared copy it does not put the reader
-- on its list, so this copy is never invalidated and survives beside an exclusive one.
--
-- expect: violated invariant "coherence"
-- states: 1999
-- rules fired: 4544
-- with N=2: states 433, rules fired 804

const
  N: 3;  -- caches

type
  node: scalarset(N);
  permission: enum { invalid, shared, exclusive };
  request: enum { no_request, want_shared, want_exclusive };
  order: enum { no_order, invalidate, grant_shared, grant_exclusive };

var
  cache: array [node] of permission;

  request_to_home: array [node] of request;
  order_to_cache: array [node] of order;
  acknowledged: array [node] of boolean;

  serving: request;
  client: node;  -- undefined when home is not busy
  holder: array [node] of boolean;
  to_invalidate: array [node] of boolean;
  exclusive_granted: boolean;

startstate "all caches empty"
  for n: node do
    cache[n] := invalid;
    request_to_home[n] := no_request;
    order_to_cache[n] := no_order;
    acknowledged[n] := false;
    holder[n] := false;
    to_invalidate[n] := false;
  end;
  serving := no_request;
  exclusive_granted := false;
end;

ruleset n: node do

  rule "ask for a shared copy"
    cache[n] = invalid & request_to_home[n] = no_request
  ==>
    request_to_home[n] := want_shared;
  end;

  rule "ask for the exclusive copy"
    cache[n] != exclusive & request_to_home[n] = no_request
  ==>
    request_to_home[n] := want_exclusive;
  end;

  rule "obey an invalidation"
    order_to_cache[n] = invalidate & !acknowledged[n]
  ==>
    order_to_cache[n] := no_order;
    acknowledged[n] := true;
    cache[n] := invalid;
  end;

  rule "receive a shared copy"
    order_to_cache[n] = grant_shared
  ==>
    order_to_cache[n] := no_order;
    cache[n] := shared;
  end;

  rule "receive the exclusive copy"
    order_to_cache[n] = grant_exclusive
  ==>
    order_to_cache[n] := no_order;
    cache[n] := exclusive;
  end;

  rule "accept a request"
    serving = no_request & request_to_home[n] != no_request
  ==>
    serving := request_to_home[n];
    client := n;
    request_to_home[n] := no_request;
    to_invalidate := holder;
  end;

  rule "send an invalidation"
    to_invalidate[n] & order_to_cache[n] = no_order
    & (serving = want_exclusive | (serving = want_shared & exclusive_granted))
  ==>
    order_to_cache[n] := invalidate;
    to_invalidate[n] := false;
  end;

  rule "receive an acknowledgement"
    acknowledged[n] & serving != no_request
  ==>
    acknowledged[n] := false;
    holder[n] := false;
    exclusive_granted := false;
  end;

  rule "grant a shared copy"
    serving = want_shared & client = n & !exclusive_granted & order_to_cache[n] = no_order
  ==>
    order_to_cache[n] := grant_shared;
    -- The bug. Here must stand: holder[n] := true;
    serving := no_request;
    undefine client;
  end;

  rule "grant the exclusive copy"
    serving = want_exclusive & client = n & !exclusive_granted
    & (forall m: node do !holder[m] end)
    & order_to_cache[n] = no_order
  ==>
    order_to_cache[n] := grant_exclusive;
    holder[n] := true;
    exclusive_granted := true;
    serving := no_request;
    undefine client;
  end;

end;

invariant "coherence"
  forall n: node do
    cache[n] = exclusive -> forall m: node do m = n | cache[m] = invalid end
  end;
