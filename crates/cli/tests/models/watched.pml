// The claim comes to its end when the light is red after it was green.
mtype = { red, green };
mtype light = red;

active proctype lamp() {
  do
  :: light == red -> light = green
  :: light == green -> light = red
  od
}

never {
  do
  :: light == red
  :: light == green -> break
  od;
  do
  :: light == green
  :: light == red -> break
  od
}
