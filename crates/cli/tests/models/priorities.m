-- Requests are served before anything else happens.
const Clients: 3;
type
  client: scalarset(Clients);
  level: 0..3;
var
  waiting: array [client] of boolean;
  load: level;

startstate begin
  for c: client do waiting[c] := false; end;
  load := 0;
end;

rule 9 "idle" load > 0 ==> begin load := load - 1; end;

ruleset c: client do
  rule 5 "ask" load < 3 ==> begin waiting[c] := true; end;
  rule "serve" waiting[c] ==> begin waiting[c] := false; load := load + 1; end;
end;

invariant "one at a time" forall c: client do forall d: client do waiting[c] & waiting[d] -> c = d end end;
