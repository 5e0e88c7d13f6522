byte x;
active proctype asks() {
  if
  :: enabled(1) -> x = 1
  :: enabled(2) -> x = 2
  fi
}
active proctype answers() { x == 3 -> skip }
active proctype asks_back() { enabled(0) -> skip }
