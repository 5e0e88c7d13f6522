active proctype a() {
  byte x
  x = 1 x = 2;
  if
  x == 1 -> skip
  fi;
  do
  :: x > 0 -> x--
  fi;
  x = ;
  int if;
done:
}
proctype b( { skip }
active proctype c() { skip }
