-- The Needham–Schroeder public-key protocol with an intruder, and Lowe's attack on it.
--
-- An initiator A and a responder B want to convince each other of who they are:
--   1.  A → B:  { A's nonce, A } under B's key
--   2.  B → A:  { A's nonce, B's nonce } under A's key
--   3.  A → B:  { B's nonce } under B's key
-- The intruder is the network: it hears every message, can deliver any of them to anyone any number
-- of times, reads those under its own key, and makes new ones from the nonces it knows. It is also
-- an agent with a name and a key, with which an honest initiator may begin a run.
--
-- In 1995 Gavin Lowe found that the intruder can use such a run to pass for the initiator before an
-- honest responder. His repair puts B's name into message 2. With LOWE = true everything holds.
--
-- A run of the protocol comes to an end, and that is no deadlock.
--
-- expect: violated invariant "the responder knows its initiator"
-- deadlock: off
-- states: 22
-- rules fired: 56
-- with LOWE=true: holds, states 21, rules fired 39
-- with INITIATORS=2, RESPONDERS=2, LOWE=true: holds, states 2622, rules fired 11098

const
  INITIATORS: 1;
  RESPONDERS: 1;
  LOWE: false;  -- whether the protocol is repaired
  INTRUDER: INITIATORS + RESPONDERS + 1;

type
  agent: 1 .. INTRUDER;
  initiator: 1 .. INITIATORS;
  responder: INITIATORS + 1 .. INITIATORS + RESPONDERS;
  nonce: agent;  -- each agent has one, which goes by the agent's name
  progress: enum { idle, waiting, done };

var
  -- How far an agent is, and with whom it believes to talk. Undefined while idle.
  initiating: array [initiator] of record
    progress: progress;
    partner: agent;
  end;
  responding: array [responder] of record
    progress: progress;
    partner: agent;
  end;

  -- What the intruder has: the nonces it can read, and whole messages under the keys of others
  -- (first index: whose key; then the contents in order).
  knows: array [nonce] of boolean;
  heard_1: array [agent] of array [nonce] of array [agent] of boolean;
  heard_2: array [agent] of array [nonce] of array [nonce] of array [agent] of boolean;
  heard_3: array [agent] of array [nonce] of boolean;

-- The name in message 2. Where the protocol puts none, there is always the same.
function name_in_2(sender: agent): agent;
begin
  return LOWE ? sender : INTRUDER;
end;

-- Whatever is sent, the intruder gets.

procedure send_1(key: agent; n: nonce; sender: agent);
begin
  if key = INTRUDER then
    knows[n] := true;
  else
    heard_1[key][n][sender] := true;
  end;
end;

procedure send_2(key: agent; n: nonce; m: nonce; sender: agent);
begin
  if key = INTRUDER then
    knows[n] := true;
    knows[m] := true;
  else
    heard_2[key][n][m][name_in_2(sender)] := true;
  end;
end;

procedure send_3(key: agent; m: nonce);
begin
  if key = INTRUDER then
    knows[m] := true;
  else
    heard_3[key][m] := true;
  end;
end;

startstate "nobody has begun"
  for i: initiator do
    initiating[i].progress := idle;
  end;
  for r: responder do
    responding[r].progress := idle;
  end;
  clear knows;
  clear heard_1;
  clear heard_2;
  clear heard_3;
  knows[INTRUDER] := true;
end;

-- Initiators.

ruleset i: initiator; partner: INITIATORS + 1 .. INTRUDER do
  rule "begin a run"
    initiating[i].progress = idle
  ==>
    initiating[i].progress := waiting;
    initiating[i].partner := partner;
    send_1(partner, i, i);
  end;
end;

ruleset i: initiator; m: nonce; sender: agent do
  rule "receive message 2"
    initiating[i].progress = waiting
    & (heard_2[i][i][m][sender] | (knows[i] & knows[m]))
    & (LOWE -> sender = initiating[i].partner)
  ==>
    initiating[i].progress := done;
    send_3(initiating[i].partner, m);
  end;
end;

-- Responders.

ruleset r: responder; n: nonce; sender: agent do
  rule "receive message 1"
    responding[r].progress = idle & sender != r
    & (heard_1[r][n][sender] | knows[n])
  ==>
    responding[r].progress := waiting;
    responding[r].partner := sender;
    send_2(sender, n, r, r);
  end;
end;

ruleset r: responder do
  rule "receive message 3"
    responding[r].progress = waiting
    & (heard_3[r][r] | knows[r])
  ==>
    responding[r].progress := done;
  end;
end;

-- Claims about agents that believe to have talked to an honest one.

invariant "the responder knows its initiator"
  forall r: responder do
    forall i: initiator do
      responding[r].progress = done & responding[r].partner = i ->
        initiating[i].progress != idle & initiating[i].partner = r
    end
  end;

invariant "the initiator knows its responder"
  forall i: initiator do
    forall r: responder do
      initiating[i].progress = done & initiating[i].partner = r ->
        responding[r].progress != idle & responding[r].partner = i
    end
  end;

invariant "the nonces stay secret"
  forall i: initiator do
    forall r: responder do
      (initiating[i].progress = done & initiating[i].partner = r -> !knows[i])
      & (responding[r].progress = done & responding[r].partner = i -> !knows[r])
    end
  end;
