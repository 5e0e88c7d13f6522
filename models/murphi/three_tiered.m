-- A three-tiered architecture: a database, servers, and clients attached to servers.
--
-- Server 1 has A clients, server 2 has B, server 3 has C. A server connects to the database once;
-- after that each of its clients asks, is served and rests, on its own. Clients of one server are
-- interchangeable, and servers with equally many clients are, together with their clients. (After
-- Donaldson and Miller; the configuration A-B-C is that of tables I and II of Zhang et al.)
--
-- A server with k clients has 3^k + 1 states, and servers do not meet: 28 * 28 * 10 for 3-3-2.
--
-- expect: holds
-- states: 7840
-- rules fired: 60816
-- with C=3: states 21952, rules fired 192864

const
  A: 3;
  B: 3;
  C: 2;

type
  server: 1..3;
  client: 1 .. A + B + C;
  location: enum { resting, asking, served };

var
  connected: array [server] of boolean;
  at: array [client] of location;

function server_of(c: client): server;
begin
  if c <= A then
    return 1;
  elsif c <= A + B then
    return 2;
  end;
  return 3;
end;

startstate "nobody connected"
  for s: server do
    connected[s] := false;
  end;
  for c: client do
    at[c] := resting;
  end;
end;

ruleset s: server do
  rule "connect"
    !connected[s]
  ==>
    connected[s] := true;
  end;
end;

ruleset c: client do

  rule "ask"
    connected[server_of(c)] & at[c] = resting
  ==>
    at[c] := asking;
  end;

  rule "serve"
    connected[server_of(c)] & at[c] = asking
  ==>
    at[c] := served;
  end;

  rule "rest"
    connected[server_of(c)] & at[c] = served
  ==>
    at[c] := resting;
  end;

end;

invariant "no service without a connection"
  forall c: client do connected[server_of(c)] | at[c] = resting end;
