chan c = [2] of { byte, bool };
chan d;
byte n = [3] of { byte };
active proctype a() {
  byte x;
  c!1;
  c?x, x, x;
  x?1;
  d!1;
  d_step { skip; c!1, true }
  chan late = [1] of { byte };
}
