/* init, run with arguments, for, arrays, timeout */
byte a[3]; byte ready;
proctype W(byte me; byte v) { a[me] = v; if :: a[0] == 1 -> a[0] = 5 :: a[0] != 1 fi; ready++ }
init { byte i; atomic { for (i : 0 .. 2) { run W(i, i + 1) } }; timeout; assert(a[0] != 5) }
