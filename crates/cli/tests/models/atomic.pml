/* Two processes count in steps of two, and nobody sees the odd numbers in between. */
byte x;
#ifdef WRONG
byte limit = 3;
#else
byte limit = 9;
#endif

active [2] proctype Count() {
  do
  :: atomic { x < 6 -> x++; assert(x != limit); x++ }
  :: atomic { x == 6 -> x = 1; x = 0 }
  od
}

ltl even { [] (x % 2 == 0) }
