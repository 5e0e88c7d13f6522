-- German's cache coherence protocol, with data that nobody reads.
--
-- N caches share one memory line. Each cache talks to the home node through three one-place
-- channels: requests go up, grants and invalidations come down, acknowledgements go up. Messages
-- carry the data, and caches store new data, but no guard and no property depends on it. Many
-- published versions of the protocol are written like this: the data multiplies the states, and
-- what is proved is the same without it. `quotient check` leaves it out: it only counts whether
-- it is defined.
--
-- expect: holds
-- states: 58104
-- rules fired: 235872
-- sliced states: 27513
-- with N=2: states 3390, rules fired 9912
-- with VALUES=1: states 27513, rules fired 110781

const
  N: 3;       -- caches
  VALUES: 2;  -- different data

type
  node: scalarset(N);
  value: scalarset(VALUES);
  permission: enum { invalid, shared, exclusive };
  request: enum { no_request, want_shared, want_exclusive };
  order: enum { no_order, invalidate, grant_shared, grant_exclusive };
  reply: enum { no_reply, acknowledge };

var
  -- The caches.
  cache: array [node] of record
    permission: permission;
    data: value;  -- undefined without permission
  end;

  -- The channels. The data of a message that carries none is undefined.
  request_to_home: array [node] of request;
  order_to_cache: array [node] of record
    kind: order;
    data: value;
  end;
  reply_to_home: array [node] of record
    kind: reply;
    data: value;
  end;

  -- The home node.
  serving: request;        -- what it is busy with
  client: node;            -- for whom; undefined when it is not busy
  holder: array [node] of boolean;         -- who may have a copy
  to_invalidate: array [node] of boolean;  -- who has still to be told
  exclusive_granted: boolean;
  memory: value;

ruleset first: value do
  startstate "all caches empty"
    for n: node do
      cache[n].permission := invalid;
      request_to_home[n] := no_request;
      order_to_cache[n].kind := no_order;
      reply_to_home[n].kind := no_reply;
      holder[n] := false;
      to_invalidate[n] := false;
    end;
    serving := no_request;
    exclusive_granted := false;
    memory := first;
  end;
end;

-- What a cache does.

ruleset n: node do
  alias me: cache[n] do

    ruleset v: value do
      rule "store"
        me.permission = exclusive
      ==>
        me.data := v;
      end;
    end;

    rule "ask for a shared copy"
      me.permission = invalid & request_to_home[n] = no_request
    ==>
      request_to_home[n] := want_shared;
    end;

    rule "ask for the exclusive copy"
      me.permission != exclusive & request_to_home[n] = no_request
    ==>
      request_to_home[n] := want_exclusive;
    end;

    rule "obey an invalidation"
      order_to_cache[n].kind = invalidate & reply_to_home[n].kind = no_reply
    ==>
      order_to_cache[n].kind := no_order;
      reply_to_home[n].kind := acknowledge;
      if me.permission = exclusive then
        reply_to_home[n].data := me.data;
      end;
      me.permission := invalid;
      undefine me.data;
    end;

    rule "receive a shared copy"
      order_to_cache[n].kind = grant_shared
    ==>
      me.permission := shared;
      me.data := order_to_cache[n].data;
      undefine order_to_cache[n];
      order_to_cache[n].kind := no_order;
    end;

    rule "receive the exclusive copy"
      order_to_cache[n].kind = grant_exclusive
    ==>
      me.permission := exclusive;
      me.data := order_to_cache[n].data;
      undefine order_to_cache[n];
      order_to_cache[n].kind := no_order;
    end;

  end;
end;

-- What the home node does.

ruleset n: node do

  rule "accept a request"
    serving = no_request & request_to_home[n] != no_request
  ==>
    serving := request_to_home[n];
    client := n;
    request_to_home[n] := no_request;
    to_invalidate := holder;
  end;

  rule "send an invalidation"
    to_invalidate[n] & order_to_cache[n].kind = no_order
    & (serving = want_exclusive | (serving = want_shared & exclusive_granted))
  ==>
    order_to_cache[n].kind := invalidate;
    to_invalidate[n] := false;
  end;

  rule "receive an acknowledgement"
    reply_to_home[n].kind = acknowledge & serving != no_request
  ==>
    holder[n] := false;
    if exclusive_granted then
      exclusive_granted := false;
      memory := reply_to_home[n].data;
    end;
    undefine reply_to_home[n];
    reply_to_home[n].kind := no_reply;
  end;

  rule "grant a shared copy"
    serving = want_shared & client = n & !exclusive_granted
    & order_to_cache[n].kind = no_order
  ==>
    order_to_cache[n].kind := grant_shared;
    order_to_cache[n].data := memory;
    holder[n] := true;
    serving := no_request;
    undefine client;
  end;

  rule "grant the exclusive copy"
    serving = want_exclusive & client = n & !exclusive_granted
    & (forall m: node do !holder[m] end)
    & order_to_cache[n].kind = no_order
  ==>
    order_to_cache[n].kind := grant_exclusive;
    order_to_cache[n].data := memory;
    holder[n] := true;
    exclusive_granted := true;
    serving := no_request;
    undefine client;
  end;

end;

-- At most one writer, and no reader beside it.
invariant "coherence"
  forall n: node do
    cache[n].permission = exclusive ->
      forall m: node do m = n | cache[m].permission = invalid end
  end;
