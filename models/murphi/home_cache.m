-- A cache protocol with a distinguished node.
--
-- A line of memory is shared by N nodes, of which the first is its home. Any node may read it together
-- with others or write it alone; the directory counts readers and knows the writer. Only the home may
-- flush the line, which takes it from everybody at once, and only while it does not write itself.
-- All nodes but the home are interchangeable, and up to the first flush all nodes are.
--
-- expect: holds
-- states: 74
-- rules fired: 356
-- with N=3: states 22, rules fired 64

const
  N: 5;
  HOME: 1;

type
  node: 1 .. N;
  line: enum { invalid, shared, owned };

var
  cache: array [node] of line;
  flushes: 0 .. 1;

startstate "nobody has the line"
  for p: node do
    cache[p] := invalid;
  end;
  flushes := 0;
end;

ruleset p: node do

  rule "read"
    cache[p] = invalid & forall q: node do cache[q] != owned end
  ==>
    cache[p] := shared;
  end;

  rule "write"
    cache[p] = shared & forall q: node do q = p | cache[q] = invalid end
  ==>
    cache[p] := owned;
  end;

  rule "evict"
    cache[p] = shared | cache[p] = owned
  ==>
    cache[p] := invalid;
  end;

end;

rule "flush"
  cache[HOME] = shared & flushes = 0
==>
  for p: node do
    if p != HOME then
      cache[p] := invalid;
    end;
  end;
  flushes := 1;
end;

invariant "a writer is alone"
  forall p: node do
    cache[p] != owned | forall q: node do q = p | cache[q] = invalid end
  end;
