byte count;
mtype = { ping, pong };
proctype worker(byte n) { skip }
init {
  cuont = 1;
  run worker(1, 2);
  run wroker(1);
  goto finish;
  unknown.field = 2;
  count.field = 3;
  break
}
