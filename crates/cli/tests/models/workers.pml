/* Workers are started one by one, and nothing in the text says how many there are. */
#ifndef N
#define N 20
#endif
byte started;
bool ready;

proctype worker() { ready }

active proctype boss() {
  do
  :: started < N -> run worker(); started++
  :: started < N -> skip
  :: started == N -> break
  od;
  ready = true
}
