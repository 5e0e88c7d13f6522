/* inline, select, nested structures, d_step with a choice */
typedef Cell { byte v; bit on[2] }; Cell c[2]; byte r;
inline set(i, x) { c[i].v = x; c[i].on[x % 2] = 1 }
active proctype P() { byte k; select (k : 1 .. 3); d_step { if :: k == 1 -> set(0, 4) :: else -> set(1, k) fi; r = c[0].v + c[1].v }; assert(r != 3) }
active proctype Q() { c[1].v == 3 || c[0].v == 4; r = 9 }
