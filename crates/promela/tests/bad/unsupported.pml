c_decl { int hidden; }
byte x;
active proctype a() priority 5 {
  c_code { now.x = 1; };
  x = 1 + run a()
}
never { do :: x == 0 od }
ltl eventually_one { <> (x == 1) }
