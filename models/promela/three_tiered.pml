// A three-tiered architecture: servers, and clients attached to servers, as in
// models/murphi/three_tiered.m. A server connects once; after that each of its clients asks, is
// served and rests, on its own.
//
// expect: holds
// states: 7841
// order: 144
// with A=3, B=3, C=3: states 21953, order 1296

#ifndef A
#define A 3
#endif
#ifndef B
#define B 3
#endif
#ifndef C
#define C 2
#endif

bool connected[3];

proctype server(byte s) {
  connected[s] = true;
end:
  do
  :: false
  od
}

proctype client(byte s) {
  do
  :: connected[s] -> skip; skip
  od
}

init {
  byte i;
  atomic {
    run server(0); run server(1); run server(2);
    do :: i < A -> run client(0); i++ :: else -> i = 0; break od;
    do :: i < B -> run client(1); i++ :: else -> i = 0; break od;
    do :: i < C -> run client(2); i++ :: else -> i = 0; break od
  }
}
