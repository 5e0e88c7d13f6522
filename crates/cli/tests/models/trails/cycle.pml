/* an acceptance cycle of a never claim */
byte x;
active proctype A() { do :: x = 1 :: x = 0 od }
never { do :: skip :: x == 1 -> break od; accept: do :: x < 2 od }
