byte x;
#include "parts/worker.h"
init { run worker(); x == 2 -> x = 3 }
