// Clients that are started one by one ask a desk through a queue, and wait for ever in an atomic sequence.
#define ROOM 1
#define take(v) v = v + step
mtype = { request, answer };
mtype:colour = { red, green };
chan desk = [2] of { mtype, chan };
chan book = [ROOM] of { byte };
typedef Entry { byte page; mtype:colour ink }
Entry last;
byte x = 1;

proctype client(byte step) {
  chan reply = [0] of { mtype };
  mtype got;
  desk!request(reply);
  reply?got;
  atomic { take(x); last.ink = green; book!x };
  d_step { x++; last.page = x }
}

proctype clerk() {
  chan who;
end:
  do
  :: desk?request(who) -> who!answer
  od
}

init {
  atomic { run client(2); run client(3); run clerk() }
}
