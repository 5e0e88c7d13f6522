/* Philosophers who take the left fork, then the right one. */
#define N 12
bit fork[N];
active [N] proctype philosopher() {
    do
    :: d_step { fork[_pid] == 0 -> fork[_pid] = 1 };
       d_step { fork[(_pid + 1) % N] == 0 -> fork[(_pid + 1) % N] = 1 };
       fork[_pid] = 0;
       fork[(_pid + 1) % N] = 0
    od
}
