byte x; bool b;
ltl a { [] (b -> ) } ltl c { <> (y == 1) }
ltl d { [] <> missing }
active proctype P() { x = 1 }
ltl e { b untill x == 1 }
ltl f { P@nowhere -> <> b }
ltl g { [] (b
active proctype Q() { x = 2 }
ltl h { [] (Q@gone) }
