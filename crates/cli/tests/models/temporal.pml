// A formula that can be checked, a claim that cannot, and an assertion that fails if LIMIT is 2.
#ifndef LIMIT
#define LIMIT 3
#endif
byte x;

active proctype counter() {
  do
  :: x < 3 -> x++; assert(x <= LIMIT)
  :: x == 3 -> x = 0
  od
}

ltl bounded { [] (x <= 3) }
never returns { byte i; do :: x > 0 od }
