byte x; bool b;
active [2] proctype P() { do :: here: x = 1; there: x = 2 od }
ltl unknown { [] (xx == 1) }
ltl label { <> P[0]@ther }
ltl never_there { <> P[0]@here }
ltl process { <> Q@there }
ltl value { [] (x + <> b) }
ltl path { A<> b }
ctl no_path { [] b }
ltl many { exists q : R : <> P[q]@there }
ltl range { forall i : 0 .. x : <> (x == i) }
ltl loose { [] x == 1 }
never { byte i; do :: i = 1 od }
