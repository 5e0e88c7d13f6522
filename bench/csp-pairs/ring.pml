/* Messages in a ring of channels with buffers, with a number that each node changes. */
#define N 6
chan c[N] = [2] of { byte };
active [N] proctype node() {
    byte x;
    c[(_pid + 1) % N]!_pid;
    do
    :: c[_pid]?x; atomic { c[(_pid + 1) % N]!((x + 1) % 11); x = 0 }
    od
}
