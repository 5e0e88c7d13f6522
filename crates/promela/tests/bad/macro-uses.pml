#define INCREMENT(v) v = v + stpe
#define LIMIT limit * 2
#define HEAD active proctype
#define FIRST(a, ...) a
byte step = 1, limits;
HEAD a() {
  byte x;
  INCREMENT(x);
  x < LIMIT;
  x = FIRST(1, 2, 3)
}
#if 0
it's never read: 0x10 'ab'
#endif
