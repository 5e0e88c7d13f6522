// A scratch variable that is always set before it is used, and one that is not.
hidden byte scratch, kept;
byte x;

active proctype Counter() {
  do
  :: atomic { scratch = x; x = (scratch + 1) % 3 }
  :: kept = x
  :: assert(x < 3 && kept < 3)
  od
}
