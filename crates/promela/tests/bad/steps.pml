chan r = [0] of { byte };
byte x;
active proctype a() {
  byte l;
  goto inside;
  d_step { skip; inside: x = 1; goto outside };
  x = 2;
  d_step { if :: r?1 -> x = 1 :: r?2 -> x = 2 fi };
outside: x = 3;
  byte list[2] = { 1, 2 };
again: x = 1;
again: x = 2;
  goto agian
}
active proctype b() priority 300 { set_priority(_pid, 2); x = _priority }
proctype c(byte many[3]) { _priority = 1 }
