// A server with answers that nobody ever asks for.
mtype = { ask, answer, refuse, stop };
chan line = [1] of { mtype };
byte served;

active proctype Server() {
end:
  do
  :: line?ask -> if :: served < 9 -> served++ :: else -> line!refuse fi
  :: line?stop -> break
  od;
  printf("stopped\n")
}

active proctype Client() {
  do
  :: served < 3 -> line!ask
  :: served >= 3 && empty(line) -> break
  od
}
