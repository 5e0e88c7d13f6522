byte n;

active proctype P() {
  n = 1;
  byte table[2] = { 5, 7 };
  assert(table[0] + table[1] == 12)
}
