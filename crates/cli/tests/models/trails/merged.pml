/* two processes, assertion, merged locals */
byte x; 
active proctype A() { byte k; k = 1; k = k + 1; x = x + k; k = 0 }
active proctype B() { byte t; t = x; t = t + 1; x = t; assert(x != 3) }
