/* What CMurphi adds: unions and multisets, and several quantifiers in one header. */
type
  Node: scalarset(2);
  Home: enum {home};
  Any: union {Node, Home};
  Message: record source: Any; value: 0..1; end;

var
  net: multiset [3] of Message;
  grid: array [0..1, 0..1] of boolean;
  seen: array [Node] of boolean;
  last: Any;

procedure send(source: Any; value: 0..1);
var
  message: Message;
begin
  message.source := source;
  message.value := value;
  multisetadd(message, net);
end;

startstate begin
  undefine net;
  for i: 0..1; j: 0..1 do grid[i, j] := false; end;
  for n: Node do seen[n] := false; end;
  last := undefined;
end;

ruleset n: Node do
  rule "send" multisetcount(i: net, true) < 2 ==>
  begin
    send(n, 1);
  end;
end;

choose i: net do
  rule "receive" net[i].value = 1 ==>
  begin
    last := net[i].source;
    if ismember(last, Node) then
      for n: Node do
        if last = n then seen[n] := true; end;
      end;
    end;
    multisetremove(i, net);
  end;
endchoose;

rule "forget" begin
  multisetremovepred(i: net, net[i].value = 0);
end;

invariant multisetcount(i: net, net[i].value = 1) <= 3;
