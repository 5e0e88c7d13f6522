/* Peterson with the test of the turn left out; printing */
bool flag[2]; byte inside;
active [2] proctype P() { do :: flag[_pid] = true; !flag[1 - _pid] || inside == 0; inside++; printf("in %d\n", _pid); assert(inside == 1); inside--; flag[_pid] = false od }
