#define PAIR(a, b) a + b
#define LATER PAIR(1)
#define NUMBER 0x10
#error this model is not finished
byte x = NUMBER;
active proctype a() {
  x = PAIR(1, 2, 3);
  x = LATER
#if (1 +
#endif
}
