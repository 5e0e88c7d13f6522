// Answers come after requests, one by one.
chan ask = [1] of { byte };
chan answer = [1] of { byte };

trace {
  end:
  do
  :: ask!_; answer!1
  od
}

active [2] proctype client() {
  byte got;
  ask!_pid;
  answer?got
}

active proctype server() {
  byte who;
  end:
  do
  :: ask?who; answer!1
  od
}
