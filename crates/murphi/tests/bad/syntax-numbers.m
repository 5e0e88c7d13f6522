-- Numbers that cannot be read, and one that may surprise.
const
  A: 09;
  B: 010;
  C: 99999999999999999999;
  D: 0xfffffffffffffffff;
  E: 1.5;
  F: .5;
  G: 0x;

startstate begin end;
