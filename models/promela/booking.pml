// Travellers ask a clerk for the last seat. The clerk who says that it is free notes that it is sold; with
// -D LATE=1 only when the traveller buys it, and then it is sold twice.
//
// expect: holds
// states: 893
// order: 6
// with N=5: order 120

#ifndef N
#define N 3
#endif
#define SEATS 1

mtype = { ask, buy, free, gone };

chan counter = [N] of { mtype, chan };
byte sold;

active [N] proctype traveller() {
  chan reply = [1] of { mtype };
  counter!ask(reply);
  if
  :: reply?free -> counter!buy(reply)
  :: reply?gone
  fi;
end_of_the_day:
  false
}

active proctype clerk() {
  chan who = counter;
end:
  do
  :: counter?ask(who) ->
     if
     :: sold < SEATS -> who!free
#ifndef LATE
        ; sold++
#endif
     :: else -> who!gone
     fi;
     who = counter
  :: counter?buy(who) ->
#ifdef LATE
     sold++;
#endif
     assert(sold <= SEATS);
     who = counter
  od
}
