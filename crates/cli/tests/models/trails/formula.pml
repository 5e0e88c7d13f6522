/* LTL invariant */
byte x;
ltl p { [] (x < 3) }
active proctype A() { do :: x < 5 -> x++ :: x > 2 -> x = 0 od }
active proctype B() { byte k; k = 1; k++; end: do :: x == 4 -> k = 0; k = 3 od }
