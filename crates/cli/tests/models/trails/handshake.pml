/* handshake, run, d_step, atomic */
chan c = [0] of {byte}; chan q = [1] of {byte}; byte n; byte cnt;
proctype R() { byte x; c?x; q!x; n = x }
active proctype S() { byte y;
  run R();
  if :: y = 1 :: y = 2 fi;
  c!y;
  d_step { cnt++; cnt = cnt + 1 };
  atomic { q?y; cnt = cnt+y };
  n > 0;
  assert(cnt == 3)
}
