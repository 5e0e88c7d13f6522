-- Two-hop colouring of an undirected ring, from any initial configuration.
--
-- The nodes colour themselves so that the two neighbours of a node differ. Each node has a colour and
-- a flag for each colour. When neighbours u and v meet, they compare u's flag for v's colour with v's
-- flag for u's colour. If these differ, u has met another node of v's colour since: u takes any
-- colour and v's flag. Otherwise both flags are complemented. (Angluin, Aspnes, Fischer and Jiang:
-- Self-stabilizing population protocols.)
--
-- The ring can be rotated and reflected, the colours permuted, and all flags complemented: 2N * 3! * 2
-- symmetries. All 24^N configurations are initial. When N is even there are 6 times as many without
-- the second property: a node's flags are about the colours of the other half of the ring only, so
-- the two halves can permute their colours independently. That property compares neighbours.
--
-- expect: holds
-- states: 13824
-- rules fired: 165888
-- peer: none, array parameters are an extension

const
  N: 3;

type
  node: 0 .. N - 1;
  colour: 0..2;
  colours: array [node] of colour;
  flags: array [node] of array [colour] of boolean;

var
  colour_of: colours;
  flag: flags;

function right(n: node): node;
begin
  return (n + 1) % N;
end;

ruleset initial_colour: colours; initial_flag: flags do
  startstate "anything"
    colour_of := initial_colour;
    flag := initial_flag;
  end;
end;

ruleset n: node; forwards: boolean do
  alias
    u: forwards ? n : right(n);
    v: forwards ? right(n) : n;
  do

    ruleset c: colour do
      rule "take another colour"
        flag[u][colour_of[v]] != flag[v][colour_of[u]]
      ==>
        flag[u][colour_of[v]] := flag[v][colour_of[u]];
        colour_of[u] := c;
      end;
    end;

    rule "meet again"
      flag[u][colour_of[v]] = flag[v][colour_of[u]]
    ==>
      flag[u][colour_of[v]] := !flag[u][colour_of[v]];
      flag[v][colour_of[u]] := !flag[v][colour_of[u]];
    end;

  end;
end;

cover "a two-hop colouring"
  forall n: node do colour_of[n] != colour_of[right(right(n))] end;

cover "neighbours differ as well"
  forall n: node do colour_of[n] != colour_of[right(n)] end;
