-- Token circulation in a directed ring, from any initial configuration.
--
-- Each agent has a label and perhaps a token, and some agents are leaders. When two neighbours
-- meet, a leader takes the label that differs from its predecessor's, every other agent takes its
-- predecessor's label, and a change of label passes the token on. With exactly one leader, one token
-- circulates in the end, however the ring was set up. (The running example of Zhang, Sun, Sun, Liu,
-- Ma and Dong: Constraint-Based Automatic Symmetry Detection, figures 2 to 4.)
--
-- The initial state is any at all: the start has parameters that are whole arrays and range over all
-- their values. That is an extension of Murphi, so rumur cannot read this file; `quotient lower`
-- prints the same model with one parameter for each element.
--
-- The ring can be rotated and the two labels exchanged. Without a leader it comes to rest, and that
-- is no deadlock.
--
-- expect: holds
-- deadlock: off
-- states: 512
-- rules fired: 576
-- with N=4: states 4096, rules fired 6144
-- peer: none, array parameters are an extension

const
  N: 3;  -- agents

type
  agent: 0 .. N - 1;
  bit: 0..1;
  bits: array [agent] of bit;
  flags: array [agent] of boolean;

var
  token: bits;
  label: bits;
  leader: flags;

ruleset initial_token: bits; initial_label: bits; initial_leader: flags do
  startstate "anything"
    token := initial_token;
    label := initial_label;
    leader := initial_leader;
  end;
end;

ruleset u: agent; v: agent do

  rule "a leader changes its label"
    v = (u + 1) % N & !leader[u] & leader[v] & label[u] = label[v]
  ==>
    token[u] := 0;
    token[v] := 1;
    label[v] := 1 - label[u];
  end;

  rule "another agent copies the label"
    v = (u + 1) % N & !leader[v] & label[u] != label[v]
  ==>
    token[u] := 0;
    token[v] := 1;
    label[v] := label[u];
  end;

end;

liveness "a single leader brings about a single token"
  (exists l: agent do leader[l] & forall other: agent do leader[other] -> other = l end end)
  -> exists t: agent do token[t] = 1 & forall other: agent do token[other] = 1 -> other = t end end;
