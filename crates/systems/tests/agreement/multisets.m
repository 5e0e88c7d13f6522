-- Multisets: adding, choosing, removing, counting; elements of record type; a full one; normal form.
const CAPACITY: 3;
type
  node: scalarset(2);
  kind: enum {ask, grant};
  message: record source: node; what: kind; stamp: 0..2; end;
  numbers: 0..3;
var
  net: multiset [CAPACITY] of message;
  bag: multiset [2] of numbers;
  nets: array [node] of multiset [1] of kind;
  owner: node;
  clock: 0..2;

procedure send(n: node; k: kind);
var m: message;
begin
  m.source := n;
  m.what := k;
  if k = ask then m.stamp := clock; end;
  multisetadd(m, net);
end;

startstate begin undefine net; undefine bag; undefine nets; undefine owner; clock := 0; end;

ruleset n: node do
  rule "ask" multisetcount(m: net, true) < CAPACITY ==> begin send(n, ask); end;
  rule "grant" multisetcount(m: net, net[m].what = ask & net[m].source = n) > 1 ==> begin
    multisetremovepred(m: net, net[m].what = ask & net[m].source = n);
    send(n, grant);
  end;
  rule "local" multisetcount(m: nets[n], true) = 0 & clock = 1 ==> begin multisetadd(grant, nets[n]); end;
end;
choose m: net do
  rule "receive" net[m].what = grant ==> begin
    owner := net[m].source;
    multisetremove(m, net);
  end;
  rule "drop" net[m].stamp = 2 ==> begin multisetremove(m, net); end;
end;
choose b: bag do
  rule "take" bag[b] = 2 ==> begin multisetremove(b, bag); end;
end;
rule "tick" true ==> begin clock := (clock + 1) % 3; end;
rule "put" clock = 2 & multisetcount(b: bag, bag[b] >= 1) < 2 ==> begin
  multisetadd(1, bag);
  multisetadd(2, bag);
end;
invariant "few" multisetcount(m: net, isundefined(net[m].source)) = 0;
