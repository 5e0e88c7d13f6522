// Message passing in a hypercube of 2^D nodes, as in models/murphi/hypercube.m: neighbours differ in
// one bit of their process numbers. A node makes a message, passes it on or takes it off.
//
// expect: holds
// states: 256
// order: 48
// with D=2: states 16, order 8
// with D=5: order 3840

#ifndef D
#define D 3
#endif
#if D == 2
#define NODES 4
#elif D == 3
#define NODES 8
#elif D == 4
#define NODES 16
#else
#define NODES 32
#endif
#define PASS(k) d_step { D > k && holding[_pid] && !holding[_pid ^ (1 << k)] -> \
                         holding[_pid] = false; holding[_pid ^ (1 << k)] = true }

bool holding[NODES];

active [NODES] proctype node() {
  do
  :: d_step { !holding[_pid] -> holding[_pid] = true }
  :: d_step { holding[_pid] -> holding[_pid] = false }
  :: PASS(0)
  :: PASS(1)
  :: PASS(2)
  :: PASS(3)
  :: PASS(4)
  od
}
