// Peterson's mutual exclusion for N processes (the filter lock), as in models/murphi/peterson.m.
//
// A process climbs through N - 1 levels. At each it declares itself the last to arrive and waits
// until somebody else arrives after it, or nobody else is at this level or above.
//
// expect: holds
// states: 29917
// order: 6
// with N=4: order 24

#ifndef N
#define N 3
#endif
#define NOBODY N

byte level_of[N];
byte turn[N] = NOBODY;
byte inside;

active [N] proctype P() {
  byte l, q;
  bool alone;
  do
  :: l = 1;
     do
     :: l < N ->
        level_of[_pid] = l;
        turn[l] = _pid;
        // Wait until nobody else is as far, or somebody came later.
        d_step {
          alone = true; q = 0;
          do
          :: q < N ->
             if
             :: q != _pid && level_of[q] >= l -> alone = false
             :: else
             fi;
             q++
          :: else -> break
          od;
          q = 0
        };
        if
        :: alone || turn[l] != _pid -> alone = false; l++
        :: else -> alone = false
        fi
     :: else -> break
     od;
     inside++;
     assert(inside == 1);
     inside--;
     d_step { level_of[_pid] = 0; l = 0 }
  od
}
