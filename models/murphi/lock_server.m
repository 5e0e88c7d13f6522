-- A lock server behind a network that keeps no order, with impatient clients.
--
-- Clients ask a server for the lock, which it grants to one at a time. A client that waits may ask
-- again, so an old request may be granted to a client that wants nothing any more; it gives the
-- lock back at once. The network is a multiset: messages overtake each other, and two equal ones
-- are both there.
--
-- Written in the dialect of CMurphi, with a union and a multiset, which rumur does not read. Each
-- message on its way is an instance of the rules that receive messages, so receiving one of two
-- equal messages counts as two rules fired.
--
-- expect: holds
-- states: 81
-- rules fired: 158
-- with N=3, CAPACITY=4: states 582, rules fired 1431
-- peer: none, rumur knows neither union nor multiset

const
  N: 2;         -- clients
  CAPACITY: 3;  -- messages on their way

type
  client: scalarset(N);
  node: union { client, enum { server } };
  kind: enum { ask, grant, give_back };
  message: record
    kind: kind;
    source: node;
    target: node;
  end;

var
  state: array [client] of enum { idle, waiting, holding };
  entrusted: node;  -- who has the lock, as the server sees it
  network: multiset [CAPACITY] of message;

procedure send(source: node; target: node; kind_to_send: kind);
var
  m: message;
begin
  m.kind := kind_to_send;
  m.source := source;
  m.target := target;
  multisetadd(m, network);
end;

startstate "the server has the lock"
  for c: client do
    state[c] := idle;
  end;
  entrusted := server;
  undefine network;
end;

ruleset c: client do

  -- One place is left for the message that carries the lock.
  rule "ask, perhaps again"
    state[c] != holding & multisetcount(i: network, network[i].kind = ask) < CAPACITY - 1
  ==>
    send(c, server, ask);
    state[c] := waiting;
  end;

  rule "give the lock back"
    state[c] = holding
  ==>
    send(c, server, give_back);
    state[c] := idle;
  end;

end;

choose i: network do
  alias m: network[i] do

    rule "the server grants the lock"
      m.kind = ask & entrusted = server
    ==>
    var
      asker: node;
    begin
      asker := m.source;
      entrusted := asker;
      multisetremove(i, network);
      send(server, asker, grant);
    end;

    rule "the server has the lock back"
      m.kind = give_back
    ==>
    begin
      assert m.source = entrusted "only who has the lock gives it back";
      entrusted := m.target;
      multisetremove(i, network);
    end;

  end;
end;

ruleset c: client do
  choose i: network do
    rule "receive the lock"
      network[i].kind = grant & network[i].target = c
    ==>
    begin
      multisetremove(i, network);
      if state[c] = waiting then
        state[c] := holding;
      else
        send(c, server, give_back);
      end;
    end;
  end;
end;

invariant "mutual exclusion"
  forall c: client do
    state[c] = holding -> entrusted = c & forall d: client do d = c | state[d] != holding end
  end;

invariant "there is one lock"
  multisetcount(i: network, network[i].kind != ask) <= (ismember(entrusted, client) ? 1 : 0);

invariant "requests go to the server, from clients"
  multisetcount(i: network, network[i].kind = ask
    & (network[i].target != server | !ismember(network[i].source, client))) = 0;

ruleset c: client do
  liveness "everyone can have the lock again" state[c] = holding;
end;
