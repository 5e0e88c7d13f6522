-- Many instances of which few are enabled, told apart by small fields: some always have a value, some
-- may lack one, and are asked for that, too.
const
  Clients: 5;
type
  client: 1..Clients;
  step: enum { idle, waiting, served };
  phase: enum { listening, granting, collecting };
var
  at: array [client] of step;
  granted: array [client] of boolean;
  server: phase;
  current: client;
  returned: client;
  queue: array [0..Clients - 1] of client;
  length: 0..Clients;

startstate
begin
  for c: client do at[c] := idle; granted[c] := false; end;
  server := listening;
  length := 0;
end;

ruleset c: client do
  rule "ask" at[c] = idle & length < Clients ==>
  begin
    queue[length] := c;
    length := length + 1;
    at[c] := waiting;
  end;
  rule "enter" at[c] = waiting & granted[c] ==>
  begin
    granted[c] := false;
    at[c] := served;
  end;
  rule "leave" at[c] = served & isundefined(returned) ==>
  begin
    returned := c;
    at[c] := idle;
  end;
  rule "grant" server = granting & !isundefined(current) & current = c & !granted[c] ==>
  begin
    granted[c] := true;
    server := collecting;
  end;
  rule "compare" server = collecting & at[c] = idle & current = c ==>
  begin
    assert returned = c;
    length := length + 0;
  end;
end;

rule "listen" server = listening & length > 0 ==>
begin
  current := queue[0];
  for p: 0..Clients - 2 do
    if p < length - 1 then queue[p] := queue[p + 1]; end;
  end;
  undefine queue[length - 1];
  length := length - 1;
  server := granting;
end;

rule "collect" server = collecting & !isundefined(returned) ==>
begin
  undefine returned;
  undefine current;
  server := listening;
end;
