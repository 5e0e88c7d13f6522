-- Clients and servers, any number of each, with one desk: a client asks at the desk, a free server takes the request, works, and
-- answers.
--
-- The mistake: a server takes a request that another one works on.
--
-- every CLIENTS, SERVERS: holds
-- every CLIENTS, SERVERS with WRONG=1: violated with CLIENTS = 1, SERVERS = 2

const
  CLIENTS: 2;
  SERVERS: 2;
  WRONG: 0;  -- whether the mistake is made

type
  client: scalarset(CLIENTS);
  server: scalarset(SERVERS);

var
  client_at: array [client] of enum { thinking, waiting, answered };
  works: array [server] of boolean;
  request: client;  -- whose request lies on the desk
  worker: server;   -- who works on it

startstate "nothing to do"
  for c: client do
    client_at[c] := thinking;
  end;
  for s: server do
    works[s] := false;
  end;
end;

ruleset c: client do

  rule "ask"
    client_at[c] = thinking & isundefined(request)
  ==>
    client_at[c] := waiting;
    request := c;
  end;

  rule "read the answer"
    client_at[c] = answered
  ==>
    client_at[c] := thinking;
  end;

end;

ruleset s: server do

  rule "take the request"
    !works[s] & !isundefined(request) & (isundefined(worker) | WRONG = 1)
  ==>
    works[s] := true;
    worker := s;
  end;

  rule "answer"
    works[s]
  ==>
    client_at[request] := answered;
    works[s] := false;
    undefine request;
    undefine worker;
  end;

end;

invariant "one works on a request"
  forall s: server do forall t: server do works[s] & works[t] -> s = t end end;

invariant "whose request is worked on waits"
  forall s: server do works[s] -> !isundefined(request) & client_at[request] = waiting end;
