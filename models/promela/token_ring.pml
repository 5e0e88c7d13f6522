// A token goes round a ring; whoever has it may enter. It starts at the first process, which breaks
// all symmetry.
//
// expect: holds
// states: 98
// order: 1

#ifndef N
#define N 4
#endif

chan pass[N] = [1] of { bit };
byte inside;

active [N] proctype station() {
  if
  :: _pid == 0 -> pass[0]!1
  :: else
  fi;
end:
  do
  :: pass[_pid]?1 ->
     if
     :: inside++; assert(inside == 1); inside--
     :: skip
     fi;
     pass[(_pid + 1) % N]!1
  od
}
