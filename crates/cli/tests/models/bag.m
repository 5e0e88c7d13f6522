-- Messages travel in a multiset.
type
  kind: enum { ping, pong };
  message: record tag: kind; hops: 0..2; end;
var
  net: multiset[2] of message;
  m: message;
startstate "empty"
begin
  undefine net;
  m.tag := ping;
  m.hops := 0;
end;
rule "send" multisetcount(i: net, true) < 2 ==>
begin
  multisetadd(m, net);
end;
choose i: net do
  rule "receive" true ==>
  begin
    multisetremove(i, net);
  end;
end;
invariant "never full" multisetcount(i: net, true) < 2;
