byte x; bool b;
active proctype P() { x = 1 }
ltl a { b untill x == 1 }
ltl b { alwyas b }
ltl c { [] (b -> ) }
ltl d { <> }
ltl e { forall i 0 .. 3 : b }
ltl f { forall i : 0 : b }
ctl g { A[b U b }
