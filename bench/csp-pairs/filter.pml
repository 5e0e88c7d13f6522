/* Mutual exclusion by a filter with a level for each process (Peterson). */
#define N 4
byte level[N];
byte waits[N];
byte inside;
active [N] proctype process() {
    byte l = 1;
    do
    :: level[_pid] = l;
       waits[l] = _pid;
       (waits[l] != _pid || ((0 == _pid || level[0] < l) && (1 == _pid || level[1] < l)
           && (2 == _pid || level[2] < l) && (3 == _pid || level[3] < l)));
       if
       :: d_step { l < N - 1 -> l++ }
       :: d_step { l == N - 1 -> inside++ }; d_step { inside--; level[_pid] = 0; l = 1 }
       fi
    od
}
