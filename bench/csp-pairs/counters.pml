/* Counters that run by themselves. */
#define N 7
byte x[N];
active [N] proctype counter() {
    do
    :: x[_pid] = (x[_pid] + 1) % 7
    od
}
