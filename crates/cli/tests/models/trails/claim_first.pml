/* a process type after a never claim: numbers are shifted */
byte x;
never { do :: x < 9 :: x == 9 -> break od }
active proctype A() { do :: x = x + 1 :: x > 2 -> x = 9 od }
