-- The alternating-bit protocol over channels that lose and duplicate messages.
--
-- The sender repeats a message until its bit is acknowledged, then goes on with the next message and
-- the other bit. The receiver takes a message if it has the bit that it expects and acknowledges
-- every message by its bit. The payload of message i is i, counted modulo MESSAGES, so the receiver
-- can tell whether it gets each message once and in order.
--
-- Written with most of what Murphi has for structure: records in arrays in records, procedures and
-- functions with parameters by value and by reference, a function that returns a record, recursion,
-- aliases of the parts of a structure, switch, while, and for in both forms.
--
-- expect: holds
-- states: 72
-- rules fired: 344
-- with CAPACITY=3, MESSAGES=4: states 320, rules fired 2276

const
  CAPACITY: 2;  -- of a channel
  MESSAGES: 2;  -- payloads; even, so that the bits go with them

type
  bit: 0..1;
  payload: 0 .. MESSAGES - 1;
  direction: enum { forth, back };
  position: 0 .. CAPACITY - 1;
  message: record
    tag: bit;
    contents: payload;  -- undefined in an acknowledgement
  end;
  channel: record
    length: 0 .. CAPACITY;
    queue: array [position] of message;
  end;
  station: record
    tag: bit;           -- to send, or expected
    counter: payload;
  end;

var
  network: record
    channels: array [direction] of channel;
  end;
  sender: station;
  receiver: station;

-- The bit that goes with a payload, in the way it is explained to people.
function tag_of(p: payload): bit;
begin
  if p = 0 then
    return 0;
  end;
  return 1 - tag_of(p - 1);
end;

function has_room(c: channel): boolean;
begin
  return c.length < CAPACITY;
end;

procedure put_in(var c: channel; m: message);
begin
  assert has_room(c) "no message is pushed into a full channel";
  c.queue[c.length] := m;
  c.length := c.length + 1;
end;

-- Removes the message at a position; those behind it move up.
procedure remove_at(var c: channel; start: position);
var
  i: 0 .. CAPACITY;
begin
  i := start;
  while i + 1 < c.length do
    c.queue[i] := c.queue[i + 1];
    i := i + 1;
  end;
  undefine c.queue[i];
  c.length := i;
end;

function take_from(var c: channel): message;
var
  first: message;
begin
  first := c.queue[0];
  remove_at(c, 0);
  return first;
end;

procedure advance(var s: station);
begin
  s.tag := 1 - s.tag;
  s.counter := (s.counter + 1) % MESSAGES;
end;

startstate "nothing sent"
  for d: direction do
    network.channels[d].length := 0;
    for p := CAPACITY - 1 to 0 by -1 do
      undefine network.channels[d].queue[p];
    end;
  end;
  clear sender;
  clear receiver;
end;

alias
  outward: network.channels[forth];
  homeward: network.channels[back];
do

  rule "send the message, perhaps again"
    has_room(outward)
  ==>
  var
    m: message;
  begin
    m.tag := sender.tag;
    m.contents := sender.counter;
    put_in(outward, m);
  end;

  rule "receive a message"
    outward.length > 0 & has_room(homeward)
  ==>
  var
    m: message;
    acknowledgement: message;
  begin
    m := take_from(outward);
    if m.tag = receiver.tag then
      assert m.contents = receiver.counter "each message once and in order";
      advance(receiver);
    end;
    acknowledgement.tag := m.tag;
    put_in(homeward, acknowledgement);
  end;

  rule "receive an acknowledgement"
    homeward.length > 0
  ==>
  var
    acknowledgement: message;
  begin
    acknowledgement := take_from(homeward);
    switch acknowledgement.tag
      case sender.tag:
        advance(sender);
      else
        -- An old one, which arrived twice.
    end;
  end;

end;

-- What the channels do to messages.

ruleset d: direction do
  alias c: network.channels[d] do

    ruleset p: position do
      rule "lose a message"
        p < c.length
      ==>
        remove_at(c, p);
      end;

      rule "duplicate a message"
        p < c.length & has_room(c)
      ==>
        -- The copy stands right behind, so the channel keeps the order.
        for i := c.length to p + 1 by -1 do
          c.queue[i] := c.queue[i - 1];
        end;
        c.length := c.length + 1;
      end;
    end;

  end;
end;

invariant "the receiver is at most one message ahead"
  receiver.counter = sender.counter | receiver.counter = (sender.counter + 1) % MESSAGES;

invariant "bits go with messages"
  sender.tag = tag_of(sender.counter) & receiver.tag = tag_of(receiver.counter);

invariant "channels hold what their lengths say"
  forall d: direction do
    forall p: position do
      isundefined(network.channels[d].queue[p].tag) = (p >= network.channels[d].length)
    end
  end;

ruleset p: payload do
  liveness "every message gets its turn" receiver.counter = p;
end;
