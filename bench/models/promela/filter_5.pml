// Peterson's algorithm for N processes with identifiers from 1 on, so that 0 is nobody: all processes are symmetric from the
// start. It has the states of the `peterson` that is measured with TopSPIN (Donaldson and Miller): with N = 5,
// 28,413,790 states, and 564,628 with SPIN's defaults.
#ifndef N
#define N 5
#endif

byte inside;
byte level[N + 1];
pid last[N];

#define BELOW(p) (_pid == p || level[p] < k)
#if N == 3
#define ALONE (BELOW(1) && BELOW(2) && BELOW(3))
#elif N == 4
#define ALONE (BELOW(1) && BELOW(2) && BELOW(3) && BELOW(4))
#elif N == 5
#define ALONE (BELOW(1) && BELOW(2) && BELOW(3) && BELOW(4) && BELOW(5))
#else
#define ALONE (BELOW(1) && BELOW(2) && BELOW(3) && BELOW(4) && BELOW(5) && BELOW(6))
#endif

proctype user() {
  byte k;
  bool ok;
  do
  :: k = 1;
     do
     :: k < N ->
        level[_pid] = k;
        last[k] = _pid;
again:
        atomic {
          ok = ALONE;
          if
          :: ok || last[k] != _pid
          :: else -> goto again
          fi
        };
        k++
     :: else -> break
     od;
     atomic { inside++; assert(inside == 1) };
     inside--;
     level[_pid] = 0
  od
}

init {
  atomic {
    run user(); run user(); run user();
#if N > 3
    run user();
#endif
#if N > 4
    run user();
#endif
#if N > 5
    run user()
#endif
  }
}
