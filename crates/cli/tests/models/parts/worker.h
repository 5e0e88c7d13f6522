#include "limits.h"
proctype worker() {
  do
  :: x < LIMIT -> x++
  :: x > LIMIT -> assert(x == LAST)
  od
}
