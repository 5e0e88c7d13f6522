// A message through a queue, one without, and an assertion that is wrong.
mtype = { request, answer };
chan queue = [1] of { mtype, byte };
chan direct = [0] of { mtype };
byte x;

active proctype Client() {
  queue!request,3;
  direct?answer;
  x = 2
}

active proctype Server() {
  byte value; mtype kind;
  queue?kind,value;
  direct!answer;
  x = value;
  assert(x == 2)
}
