// A prioritized resource allocator, as in models/murphi/resource_allocator.m.
//
// Clients ask for one resource and get it when it is free and nobody more important is waiting.
// The first A clients are the most important, the next B come second, the last C third.
//
// expect: holds
// states: 577
// order: 24
// with A=3, B=3, C=4: order 864

#ifndef A
#define A 2
#endif
#ifndef B
#define B 2
#endif
#ifndef C
#define C 3
#endif
#define CLIENTS (A + B + C)

bool taken;
byte waiting[3];

proctype client(byte class) {
  do
  :: waiting[class]++;
     d_step {
       !taken && (class == 0 || waiting[0] == 0) && (class < 2 || waiting[1] == 0) ->
       taken = true; waiting[class]--
     };
     taken = false
  od
}

init {
  byte i;
  atomic {
    do
    :: i < A -> run client(0); i++
    :: i >= A && i < A + B -> run client(1); i++
    :: i >= A + B && i < CLIENTS -> run client(2); i++
    :: else -> i = 0; break
    od
  }
}
