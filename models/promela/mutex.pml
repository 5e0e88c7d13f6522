// Mutual exclusion by a lock that is tested and set in one step.
//
// expect: holds
// states: 44
// order: 6
// with N=8: states 3328, order 40320

#ifndef N
#define N 3
#endif

bool locked;
byte inside;

active [N] proctype P() {
  do
  :: skip;                                   // rest
     d_step { !locked -> locked = true };
     inside++;
     assert(inside == 1);
     d_step { inside--; locked = false }
  od
}
