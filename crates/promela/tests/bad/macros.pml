#define TWICE(a) (a + a)
#define UNKNOWN undeclared
#if N >
#endif
#else
#include "no such file.h"
#ifdef OPEN
active proctype a() {
  byte x;
  x = TWICE(1, 2);
  x = UNKNOWN;
}
