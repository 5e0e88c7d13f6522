/* deadlock of two locks */
bool a, b; byte got;
active proctype P() { do :: atomic { !a -> a = true }; atomic { !b -> b = true }; got++; b = false; a = false od }
active proctype Q() { do :: atomic { !b -> b = true }; atomic { !a -> a = true }; got++; a = false; b = false od }
