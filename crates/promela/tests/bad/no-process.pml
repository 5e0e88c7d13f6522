byte x;
proctype a() { x = 1 }
