// An email system: clients send messages to each other through a mailer. A message carries the
// mailbox of its receiver, which is a channel, and the mailer forwards it there. (After figure 9 of
// the survey of Wahl and Donaldson, and the model of Donaldson and Miller.)
//
// expect: holds
// states: 36748
// order: 6
// with N=2: states 217, order 2
// with N=4: order 24

#ifndef N
#define N 3
#endif

chan network = [1] of { chan, chan };   // receiver's box, sender's box
chan box[N] = [1] of { chan };

// Writes to the owner of a box that is not one's own.
#define WRITE(k) d_step { nfull(network) && box[k] != mine -> network!box[k], mine }

proctype client(chan mine) {
  chan from = mine;
end:
  do
  :: mine?from -> from = mine
  :: WRITE(0)
  :: WRITE(1)
#if N > 2
  :: WRITE(2)
#endif
#if N > 3
  :: WRITE(3)
#endif
  od
}

proctype mailer() {
  chan to = network, from = network;
end:
  do
  :: network?to, from -> to!from; d_step { to = network; from = network }
  od
}

init {
  byte i;
  atomic {
    run mailer();
    do :: i < N -> run client(box[i]); i++ :: else -> i = 0; break od
  }
}
