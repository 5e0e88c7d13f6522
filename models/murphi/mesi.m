-- A MESI directory protocol with all its races.
--
-- N caches hold copies of one memory line: modified (the only copy, newer than memory), exclusive
-- (the only copy, same as memory), shared or invalid. A directory beside the memory knows who
-- holds copies. It never waits, except for the data that an owner hands over when it becomes a
-- sharer: while caches still exchange data and acknowledgements about one request, the directory
-- serves the next. So requests, evictions and invalidations cross on their way, and a cache needs
-- transient states to know what it is waiting for. The protocol is the textbook one (Nagarajan,
-- Sorin, Hill, Wood: A Primer on Memory Consistency and Cache Coherence, chapter 8).
--
-- Three networks: requests to the directory (a cache has at most one), orders from the directory
-- to a cache (must stay in order), responses with data or acknowledgements (in any order).
--
-- expect: holds
-- states: 58772
-- rules fired: 205234
-- with N=2: states 1652, rules fired 4132

const
  N: 3;       -- caches
  VALUES: 2;  -- different data

type
  node: scalarset(N);
  value: scalarset(VALUES);

  cache_state: enum {
    invalid, shared, exclusive, modified,
    -- A load that missed: waits for data.
    loading,
    -- A store that missed: waits for data and acknowledgements, or only for the latter.
    storing, storing_has_data,
    -- A store to a shared copy, which can still be read: the same.
    upgrading, upgrading_has_data,
    -- An eviction: waits for the directory to agree. The last one has lost its copy meanwhile.
    evicting_shared, evicting_exclusive, evicting_modified, evicting_nothing
  };

  directory_state: enum {
    uncached,    -- memory has the only copy
    sharing,     -- memory and the sharers have the same
    owned,       -- the owner has the only good copy; it need not tell when it modifies it
    recovering   -- becomes sharing when the data of the last owner arrive
  };

  request: enum { no_request, get_shared, get_modified, put_shared, put_exclusive, put_modified };
  order: enum { forward_get_shared, forward_get_modified, invalidate, put_acknowledged };
  response: enum { no_response, data_to_share, data_to_own };

  queue_length: 0..2;
  queue_position: 0..1;

var
  cache: array [node] of record
    state: cache_state;
    data: value;                           -- undefined without a copy
    acknowledgements_due: 1 - N .. N - 1;  -- negative if they come before it is known how many
  end;

  directory: record
    state: directory_state;
    owner: node;                     -- undefined unless owned
    sharer: array [node] of boolean;
  end;
  memory: value;

  -- The networks.
  request_from: array [node] of record
    kind: request;
    data: value;  -- of put_modified
  end;
  orders_to: array [node] of record
    length: queue_length;
    queue: array [queue_position] of record
      kind: order;
      requester: node;  -- whom to answer
    end;
  end;
  response_to: array [node] of record
    kind: response;
    data: value;
    acknowledgements: 0 .. N - 1;  -- how many sharers will send one
  end;
  acknowledgements_to: array [node] of 0 .. N - 1;
  data_to_memory: value;  -- undefined when there are none on their way

  -- Not part of the protocol: the value that a load must return.
  last_written: value;

-- Sending.

procedure send_request(sender: node; kind: request);
begin
  assert request_from[sender].kind = no_request "one request a cache";
  request_from[sender].kind := kind;
end;

procedure send_order(receiver: node; kind: order; requester: node);
begin
  alias orders: orders_to[receiver] do
    assert orders.length < 2 "two orders to a cache";
    orders.queue[orders.length].kind := kind;
    orders.queue[orders.length].requester := requester;
    orders.length := orders.length + 1;
  end;
end;

procedure send_data(receiver: node; kind: response; data: value; acknowledgements: 0 .. N - 1);
begin
  assert response_to[receiver].kind = no_response "one response to a cache";
  response_to[receiver].kind := kind;
  response_to[receiver].data := data;
  response_to[receiver].acknowledgements := acknowledgements;
end;

procedure send_acknowledgement(receiver: node);
begin
  acknowledgements_to[receiver] := acknowledgements_to[receiver] + 1;
end;

procedure send_data_to_memory(data: value);
begin
  assert isundefined(data_to_memory) "one owner gives up ownership";
  data_to_memory := data;
end;

-- Receiving.

procedure take_request(sender: node);
begin
  undefine request_from[sender];
  request_from[sender].kind := no_request;
end;

procedure take_order(receiver: node);
begin
  alias orders: orders_to[receiver] do
    orders.queue[0] := orders.queue[1];
    undefine orders.queue[1];
    orders.length := orders.length - 1;
  end;
end;

procedure take_response(receiver: node);
begin
  undefine response_to[receiver];
  response_to[receiver].kind := no_response;
end;

-- Whether the next order to a cache is of a kind.
function ordered(receiver: node; kind: order): boolean;
begin
  return orders_to[receiver].length > 0 & orders_to[receiver].queue[0].kind = kind;
end;

function sharers_besides(reader: node): 0 .. N - 1;
var
  count: 0 .. N - 1;
begin
  count := 0;
  for other: node do
    if other != reader & directory.sharer[other] then
      count := count + 1;
    end;
  end;
  return count;
end;

procedure lose_copy(loser: node; next: cache_state);
begin
  undefine cache[loser].data;
  cache[loser].state := next;
end;

-- The store is done as soon as data and all acknowledgements are there.
procedure complete_store(writer: node);
begin
  if cache[writer].acknowledgements_due = 0 then
    cache[writer].state := modified;
  end;
end;

ruleset first: value do
  startstate "uncached"
    for n: node do
      cache[n].state := invalid;
      cache[n].acknowledgements_due := 0;
      directory.sharer[n] := false;
      request_from[n].kind := no_request;
      orders_to[n].length := 0;
      response_to[n].kind := no_response;
      acknowledgements_to[n] := 0;
    end;
    directory.state := uncached;
    memory := first;
    last_written := first;
  end;
end;

-- The processor beside each cache: loads, stores, evictions.

ruleset n: node do
  alias me: cache[n] do

    rule "load misses"
      me.state = invalid
    ==>
      send_request(n, get_shared);
      me.state := loading;
    end;

    rule "store misses"
      me.state = invalid
    ==>
      send_request(n, get_modified);
      me.state := storing;
    end;

    rule "store to a shared copy"
      me.state = shared
    ==>
      send_request(n, get_modified);
      me.state := upgrading;
    end;

    ruleset v: value do
      -- The directory does not hear of it when an exclusive copy becomes a modified one.
      rule "store"
        me.state = exclusive | me.state = modified
      ==>
        me.state := modified;
        me.data := v;
        last_written := v;
      end;
    end;

    rule "evict a shared copy"
      me.state = shared
    ==>
      send_request(n, put_shared);
      lose_copy(n, evicting_shared);
    end;

    rule "evict an exclusive copy"
      me.state = exclusive
    ==>
      send_request(n, put_exclusive);
      me.state := evicting_exclusive;
    end;

    rule "evict a modified copy"
      me.state = modified
    ==>
      send_request(n, put_modified);
      request_from[n].data := me.data;
      me.state := evicting_modified;
    end;

  end;
end;

-- A cache obeys the directory. Orders for which it must first have its data wait in the queue.

ruleset n: node do
  alias me: cache[n] do
    alias requester: orders_to[n].queue[0].requester do

      rule "owner shares its copy"
        ordered(n, forward_get_shared)
        & (me.state = exclusive | me.state = modified
           | me.state = evicting_exclusive | me.state = evicting_modified)
      ==>
        send_data(requester, data_to_share, me.data, 0);
        send_data_to_memory(me.data);
        if me.state = exclusive | me.state = modified then
          me.state := shared;
        else
          lose_copy(n, evicting_shared);
        end;
        take_order(n);
      end;

      rule "owner hands over its copy"
        ordered(n, forward_get_modified)
        & (me.state = exclusive | me.state = modified
           | me.state = evicting_exclusive | me.state = evicting_modified)
      ==>
        send_data(requester, data_to_own, me.data, 0);
        if me.state = exclusive | me.state = modified then
          lose_copy(n, invalid);
        else
          lose_copy(n, evicting_nothing);
        end;
        take_order(n);
      end;

      rule "sharer drops its copy"
        ordered(n, invalidate)
        & (me.state = shared | me.state = upgrading | me.state = evicting_shared)
      ==>
        send_acknowledgement(requester);
        switch me.state
          case shared: lose_copy(n, invalid);
          case upgrading: lose_copy(n, storing);
          case evicting_shared: lose_copy(n, evicting_nothing);
        end;
        take_order(n);
      end;

      rule "eviction completes"
        ordered(n, put_acknowledged)
      ==>
        assert me.state = evicting_shared | me.state = evicting_exclusive
          | me.state = evicting_modified | me.state = evicting_nothing "an eviction is under way";
        lose_copy(n, invalid);
        take_order(n);
      end;

    end;
  end;
end;

-- A cache receives what it waits for.

ruleset n: node do
  alias me: cache[n] do

    rule "load receives data"
      me.state = loading & response_to[n].kind != no_response
    ==>
      me.data := response_to[n].data;
      me.state := response_to[n].kind = data_to_own ? exclusive : shared;
      take_response(n);
    end;

    rule "store receives data"
      (me.state = storing | me.state = upgrading) & response_to[n].kind = data_to_own
    ==>
      me.data := response_to[n].data;
      me.acknowledgements_due := me.acknowledgements_due + response_to[n].acknowledgements;
      me.state := me.state = storing ? storing_has_data : upgrading_has_data;
      take_response(n);
      complete_store(n);
    end;

    rule "receive an acknowledgement"
      acknowledgements_to[n] > 0
    ==>
      acknowledgements_to[n] := acknowledgements_to[n] - 1;
      me.acknowledgements_due := me.acknowledgements_due - 1;
      if me.state = storing_has_data | me.state = upgrading_has_data then
        complete_store(n);
      end;
    end;

  end;
end;

-- The directory.

ruleset n: node do
  alias asked: request_from[n].kind; home: directory do

    rule "serve a load, uncached"
      asked = get_shared & home.state = uncached
    ==>
      send_data(n, data_to_own, memory, 0);
      home.state := owned;
      home.owner := n;
      take_request(n);
    end;

    rule "serve a load, shared"
      asked = get_shared & home.state = sharing
    ==>
      send_data(n, data_to_share, memory, 0);
      home.sharer[n] := true;
      take_request(n);
    end;

    rule "serve a load, owned"
      asked = get_shared & home.state = owned
    ==>
      send_order(home.owner, forward_get_shared, n);
      home.sharer[home.owner] := true;
      home.sharer[n] := true;
      undefine home.owner;
      home.state := recovering;
      take_request(n);
    end;

    rule "serve a store, uncached or shared"
      asked = get_modified & (home.state = uncached | home.state = sharing)
    ==>
      send_data(n, data_to_own, memory, sharers_besides(n));
      for other: node do
        if other != n & home.sharer[other] then
          send_order(other, invalidate, n);
        end;
        home.sharer[other] := false;
      end;
      home.state := owned;
      home.owner := n;
      take_request(n);
    end;

    rule "serve a store, owned"
      asked = get_modified & home.state = owned
    ==>
      send_order(home.owner, forward_get_modified, n);
      home.owner := n;
      take_request(n);
    end;

    -- An eviction may come from a cache that is no longer what it was when it asked.
    rule "serve an eviction"
      asked = put_shared | asked = put_exclusive | asked = put_modified
    ==>
      if home.state = owned then
        if home.owner = n then
          if asked = put_modified then
            memory := request_from[n].data;
          end;
          home.state := uncached;
          undefine home.owner;
        end;
      else
        home.sharer[n] := false;
        if home.state = sharing & forall other: node do !home.sharer[other] end then
          home.state := uncached;
        end;
      end;
      send_order(n, put_acknowledged, n);
      take_request(n);
    end;

  end;
end;

rule "directory recovers the data"
  !isundefined(data_to_memory)
==>
  assert directory.state = recovering "the directory waits for the data";
  memory := data_to_memory;
  undefine data_to_memory;
  directory.state := sharing;
end;

-- One writer, or any number of readers.
invariant "coherence"
  forall n: node do
    cache[n].state = exclusive | cache[n].state = modified ->
      forall m: node do
        m = n
        | (cache[m].state != shared & cache[m].state != upgrading & cache[m].state != upgrading_has_data
           & cache[m].state != exclusive & cache[m].state != modified)
      end
  end;

-- Whoever may read, reads what was written last.
invariant "latest value"
  forall n: node do
    cache[n].state = shared | cache[n].state = upgrading | cache[n].state = upgrading_has_data
    | cache[n].state = exclusive | cache[n].state = modified ->
      cache[n].data = last_written
  end;

invariant "memory is good unless a cache owns the line"
  directory.state = uncached | directory.state = sharing -> memory = last_written;

-- Acknowledgements come only to those who count them.
invariant "no stray acknowledgements"
  forall n: node do
    acknowledgements_to[n] > 0 | cache[n].acknowledgements_due != 0 ->
      cache[n].state = storing | cache[n].state = storing_has_data
      | cache[n].state = upgrading | cache[n].state = upgrading_has_data
  end;

-- The races happen.
cover "an eviction meets a forwarded store"
  exists n: node do cache[n].state = evicting_nothing end;
cover "an acknowledgement overtakes the data"
  exists n: node do cache[n].acknowledgements_due < 0 end;

-- Whatever is under way can be completed.
liveness "can come to rest"
  forall n: node do
    cache[n].state = invalid | cache[n].state = shared
    | cache[n].state = exclusive | cache[n].state = modified
  end;
