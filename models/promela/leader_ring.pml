// Leader election in a ring without identities: every node has a channel to the next one; tokens
// that meet cancel out until one is left. All nodes are alike, and so rotations are symmetries.
//
// expect: holds
// states: 136
// order: 3
// with N=4: states 768, order 4

#ifndef N
#define N 3
#endif

chan link[N] = [1] of { bit };

active [N] proctype node() {
  bit leader = 1;
end:
  do
  :: leader && nfull(link[_pid]) -> d_step { nfull(link[_pid]) -> link[_pid]!1; leader = 0 }
  :: !leader && nempty(link[(_pid + N - 1) % N]) -> d_step { nempty(link[(_pid + N - 1) % N]) -> link[(_pid + N - 1) % N]?1; leader = 1 }
  :: d_step { leader && nempty(link[(_pid + N - 1) % N]) -> link[(_pid + N - 1) % N]?1 }
  od
}
