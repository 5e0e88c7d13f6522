// Clients ask a server over one channel; each request carries the channel for the answer, which the
// client made itself.
//
// expect: holds
// states: 7
// order: 6
// with N=4: states 9, order 24

#ifndef N
#define N 3
#endif

mtype = { request, answer };

chan service = [0] of { mtype, chan };

active [N] proctype client() {
  chan reply = [0] of { mtype };
end:
  do
  :: service!request(reply); reply?answer
  od
}

active proctype server() {
  chan who = service;
end:
  do
  :: service?request(who) -> who!answer; who = service
  od
}
