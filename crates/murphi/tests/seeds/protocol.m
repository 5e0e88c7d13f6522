-- A mutual exclusion protocol, as a model is usually written.
const ProcessCount: 3;
type
  Process: scalarset(ProcessCount);
  Location: enum {idle, waiting, critical};
var
  location: array [Process] of Location;
  holder: Process;

startstate "start" begin
  for p: Process do location[p] := idle; end;
  undefine holder;
end;

ruleset p: Process do
  rule "request" location[p] = idle ==> begin
    location[p] := waiting;
  end;
  rule "enter" location[p] = waiting & isundefined(holder) ==> begin
    location[p] := critical;
    holder := p;
  end;
  rule "leave" location[p] = critical ==> begin
    location[p] := idle;
    undefine holder;
  end;
end;

invariant "exclusion"
  forall p: Process do forall q: Process do
    p != q -> !(location[p] = critical & location[q] = critical)
  end end;
