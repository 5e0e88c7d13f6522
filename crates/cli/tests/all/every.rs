//! Transcripts of `quotient check --every`: claims about all values of a constant.

use crate::transcript::{expect, quotient};
use snapbox::str;

const MODELS: &str = "../../../../models";

fn every(model: &str, arguments: &[&str]) -> crate::transcript::Transcript {
    let path = format!("{MODELS}/{model}");
    quotient([&["check", "--every", "N", &path], arguments].concat())
}

#[test]
fn a_protocol_for_every_number_of_caches() {
    expect(
        every("every/synapse.m", &[]),
        str![[r#"
holds for every N ≥ 1

checked      "a dirty copy is the only one" and run-time errors; not deadlocks
searched     N = 1 (3 states), 2 (4 states), 3 (5 states)
views        k = 1: 3; too coarse: `a dirty copy is the only one` does not hold in a state with 4, which need not be reachable
backward     2 parts of states, among 3 views with k = 1
monotone     yes: no condition asks for the absence of a process
rechecked    the parts, in 15 states with N ≥ 4
compared     all states with N = 4 (6 states), 5 (7 states), 6 (8 states)
cut-off      N = 1: what the shared variables and any 1 of the other values of `node` hold with any N ≥ 1, they hold with N = 1
time         …

for N ≥ 4, the shared variables and some of the other values of `node` are never like one of these:
  always
    (at = valid) and (at = dirty)
    (at = dirty) and (at = dirty)
---- exit status 0

"#]],
    );
}

#[test]
fn the_smallest_number_with_a_violation() {
    expect(
        every("every/moesi.m", &["-D", "WRONG=1"]),
        str![[r#"
violated with N = 2, the smallest number

violated: invariant "an exclusive or modified copy is the only one"

 0  Startstate "no copies"
      at[node_0]: invalid
      at[node_1]: invalid
 1  Rule "write miss", n: node_0
      at[node_0]: invalid → exclusive
 2  Rule "read miss", n: node_1
      at[node_1]: invalid → shared
    invariant "an exclusive or modified copy is the only one" fails here
    ../../../../models/every/moesi.m:72:1
    72 | invariant "an exclusive or modified copy is the only one"
    false for n = node_0, m = node_1: m = n | at[m] = invalid (../../../../models/every/moesi.m:74:63)
      while at[n] = exclusive | at[n] = modified
      here at[node_1] = shared

violated   invariant  an exclusive or modified copy is the only one
undecided  invariant  one owner
undecided  no errors

symmetries   2, S2; found in …
reduction    canonical; …
states       4, representing 6 (1.50× reduction)
transitions  8
depth        2
time         …
memory       …

checked      "an exclusive or modified copy is the only one", "one owner" and run-time errors; not deadlocks
searched     N = 1 (4 states), 2 (4 states)
time         …
---- exit status 1

"#]],
    );
}

#[test]
fn shared_variables_that_name_processes() {
    expect(
        every("every/dijkstra.m", &["--property", "mutual exclusion"]),
        str![[r#"
holds for every N ≥ 1

checked      "mutual exclusion" and run-time errors; not deadlocks
searched     N = 1 (5 states), 2 (29 states), 3 (95 states), 4 (235 states)
views        k = 1: 24; too coarse: `mutual exclusion` does not hold in a state with 5, which need not be reachable
views        k = 2: 95
rechecked    the views, in 725 states with N ≥ 5
compared     all states with N = 5 (490 states), 6 (910 states)
cut-off      N = 3: what the shared variables and any 2 of the other values of `process` hold with any N ≥ 1, they hold with N = 3
time         …

for N ≥ 5, the shared variables and any 2 of the other values of `process` are like one of these:
  turn = #1; #1: at = idle, flag = none
    (at = idle, flag = none) and (at = idle, flag = none)
    (at = idle, flag = none) and (at = waiting, flag = wants)
    (at = idle, flag = none) and (at = has_turn, flag = wants)
    (at = idle, flag = none) and (at = may_take_turn, flag = wants)
    (at = idle, flag = none) and (at = checking, flag = enters)
    (at = idle, flag = none) and (at = inside, flag = enters)
    (at = waiting, flag = wants) and (at = waiting, flag = wants)
    (at = waiting, flag = wants) and (at = has_turn, flag = wants)
    (at = waiting, flag = wants) and (at = may_take_turn, flag = wants)
    (at = waiting, flag = wants) and (at = checking, flag = enters)
    (at = waiting, flag = wants) and (at = inside, flag = enters)
    (at = has_turn, flag = wants) and (at = has_turn, flag = wants)
    (at = has_turn, flag = wants) and (at = may_take_turn, flag = wants)
    (at = has_turn, flag = wants) and (at = checking, flag = enters)
    (at = has_turn, flag = wants) and (at = inside, flag = enters)
    (at = may_take_turn, flag = wants) and (at = may_take_turn, flag = wants)
    (at = may_take_turn, flag = wants) and (at = checking, flag = enters)
    (at = may_take_turn, flag = wants) and (at = inside, flag = enters)
    (at = checking, flag = enters) and (at = checking, flag = enters)
    (at = checking, flag = enters) and (at = inside, flag = enters)
  turn = #1; #1: at = waiting, flag = wants
    (at = idle, flag = none) and (at = idle, flag = none)
    (at = idle, flag = none) and (at = waiting, flag = wants)
    (at = idle, flag = none) and (at = has_turn, flag = wants)
    (at = idle, flag = none) and (at = may_take_turn, flag = wants)
    (at = idle, flag = none) and (at = checking, flag = enters)
    (at = idle, flag = none) and (at = inside, flag = enters)
    (at = waiting, flag = wants) and (at = waiting, flag = wants)
    (at = waiting, flag = wants) and (at = has_turn, flag = wants)
    (at = waiting, flag = wants) and (at = may_take_turn, flag = wants)
    (at = waiting, flag = wants) and (at = checking, flag = enters)
    (at = waiting, flag = wants) and (at = inside, flag = enters)
    (at = has_turn, flag = wants) and (at = has_turn, flag = wants)
    (at = has_turn, flag = wants) and (at = may_take_turn, flag = wants)
    (at = has_turn, flag = wants) and (at = checking, flag = enters)
    (at = has_turn, flag = wants) and (at = inside, flag = enters)
    (at = may_take_turn, flag = wants) and (at = may_take_turn, flag = wants)
    (at = may_take_turn, flag = wants) and (at = checking, flag = enters)
    (at = may_take_turn, flag = wants) and (at = inside, flag = enters)
  and 60 more lines (--format json has all)
---- exit status 0

"#]],
    );
}

#[test]
fn an_order_between_processes_is_refused() {
    expect(
        every("murphi/bakery.m", &[]),
        str![[r#"
---- stderr
error[not-every-size]: not for every N: two types depend on the constant: `process` and `1..4`
  --> ../../../../models/murphi/bakery.m:30:3
   |
30 |   unseen: array [process] of 1 .. N + 1; -- the next process to look at
   |   ^^^^^^

1 error
---- exit status 3

"#]],
    );
}

#[test]
fn counting_is_refused() {
    expect(
        every("murphi/mesi.m", &["--property", "coherence"]),
        str![[r#"
---- stderr
error[not-every-size]: not for every N: the constant decides with which number `-2..2` begins
  --> ../../../../models/murphi/mesi.m:54:3
   |
54 |   cache: array [node] of record
   |   ^^^^^

1 error
---- exit status 3

"#]],
    );
}

#[test]
fn multisets_of_processes_are_refused() {
    expect(
        every("murphi/lock_server.m", &[]),
        str![[r#"
---- stderr
error[not-every-size]: not for every N: `network` is a multiset of objects, which is not supported
  --> ../../../../models/murphi/lock_server.m:35:3
   |
35 |   network: multiset [CAPACITY] of message;
   |   ^^^^^^^

1 error
---- exit status 3

"#]],
    );
}

#[test]
fn a_pool_that_few_processes_do_not_empty() {
    expect(
        every("every/pool.m", &[]),
        str![[r#"
holds for every N ≥ 1

checked      "whoever is inside holds a resource" and run-time errors; not deadlocks
searched     N = 1 (2 states)
views        k = 1: 8; too coarse: `whoever is inside holds a resource` does not hold in a state with 2, which need not be reachable
backward     9 parts of states, among 18 views with k = 1
monotone     yes: no condition asks for the absence of a process
rechecked    the parts, in 349 states with N ≥ 2
compared     all states with N = 2 (3 states), 3 (4 states), 4 (5 states), 5 (6 states), 6 (7 states), 7 (8 states), 8 (9 states), 9 (9 states)
cut-off      N = 9: what the shared variables and any 1 of the other values of `process` hold with any N ≥ 1, they hold with N = 9
time         …

for N ≥ 2, the shared variables and some of the other values of `process` are never like one of these:
  free = 8
    (at = inside)
  free = 7
    (at = inside) and (at = inside)
  free = 6
    3 times (at = inside)
  free = 5
    4 times (at = inside)
  free = 4
    5 times (at = inside)
  free = 3
    6 times (at = inside)
  free = 2
    7 times (at = inside)
  free = 1
    8 times (at = inside)
  free = 0
    9 times (at = inside)
---- exit status 0

"#]],
    );
    expect(
        every("every/readers_writers.m", &["--every-method", "backward"]),
        str![[r#"
holds for every N ≥ 1

checked      "a writer is alone" and run-time errors; not deadlocks
searched     N = 1 (3 states), 2 (13 states), 3 (26 states)
backward     2 parts of states, among 5 views with k = 1
monotone     no: more objects can make this condition false (line 42, column 3); 1 more such conditions
rechecked    the parts, in 84 states with N ≥ 4
compared     all states with N = 4 (45 states), 5 (71 states), 6 (105 states)
cut-off      N = 1: what the shared variables and any 1 of the other values of `process` hold with any N ≥ 1, they hold with N = 1
time         …

for N ≥ 4, the shared variables and some of the other values of `process` are never like one of these:
  always
    (at = reading) and (at = writing)
    (at = writing) and (at = writing)
---- exit status 0

"#]],
    );
    expect(
        quotient(["check", "--every-method", "views", &format!("{MODELS}/every/pool.m")]),
        str![[r#"
---- stderr
error: the following required arguments were not provided:
  --every <NAME[=FROM]>

Usage: quotient check --every <NAME[=FROM]> --every-method <METHOD> <MODEL>

For more information, try '--help'.
---- exit status 2

"#]],
    );
}

#[test]
fn processes_in_a_line() {
    expect(
        every("every/token_line.m", &[]),
        str![[r#"
holds for every N ≥ 1

checked      "all before the token have worked" and run-time errors; not deadlocks
searched     N = 1 (3 states), 2 (5 states), 3 (7 states), 4 (9 states)
views        k = 1: 5
rechecked    the views, in 27 states with N ≥ 5
compared     all states with N = 5 (11 states), 6 (13 states)
cut-off      N = 2: what the shared variables and any 1 of the other values of `process`, in their order, hold with any N ≥ 1, they hold with N = 2
time         …

for N ≥ 5, the shared variables and any 1 of the other values of `process`, in their order, are like one of these:
  always
    (is_done = false)
  token = #1; #1: is_done = false
    (is_done = true) < #1
    #1 < (is_done = false)
  token = #1; #1: is_done = true
    (is_done = true) < #1
    #1 < (is_done = false)
---- exit status 0

"#]],
    );
    expect(
        every("every/token_line.m", &["-D", "WRONG=1"]),
        str![[r#"
violated with N = 3, the smallest number

violated: invariant "all before the token have worked"

 0  Startstate "nobody has worked"
      token: undefined
      is_done[1]: false
      is_done[2]: false
      is_done[3]: false
 1  Rule "begin", p: 1
      token: undefined → 1
 2  Rule "work", p: 1
      is_done[1]: false → true
 3  Rule "pass the token on", q: 3, p: 1
      token: 1 → 3
    invariant "all before the token have worked" fails here
    ../../../../models/every/token_line.m:53:1
    53 | invariant "all before the token have worked"
    false: isundefined(token) | forall p: process do p < token -> is_done[p] end (../../../../models/every/token_line.m:54:3)
      here token = 3

violated   invariant  all before the token have worked
undecided  no errors

symmetries   none found (…
states       4
transitions  5
depth        3
time         …
memory       …

checked      "all before the token have worked" and run-time errors; not deadlocks
searched     N = 1 (3 states), 2 (5 states), 3 (4 states)
time         …
---- exit status 1

"#]],
    );
    expect(
        every("every/token_line.m", &["--every-method", "backward"]),
        str![[r#"
---- stderr
error: --every: a search backward is for objects without an order, and they are compared by it here
---- exit status 2

"#]],
    );
}

#[test]
fn two_types_of_processes() {
    let path = format!("{MODELS}/every/readers_and_writers.m");
    let both = ["check", "--every", "READERS", "--every", "WRITERS", &path];
    expect(
        quotient(both),
        str![[r#"
holds for every READERS ≥ 1, WRITERS ≥ 1

checked      "nobody reads while one writes", "one writes" and run-time errors; not deadlocks
searched     (READERS, WRITERS) = (1, 1) (5 states), (1, 2) (5 states), (2, 1) (7 states), (1, 3) (5 states), (2, 2) (7 states), (3, 1) (9 states), (1, 4) (5 states), (2, 3) (7 states), (3, 2) (9 states), (4, 1) (11 states)
views        READERS ≥ 2, WRITERS ≥ 5, k = 1: 5
views        READERS = 1, WRITERS ≥ 5, k = 1: 5
views        READERS ≥ 2, WRITERS = 1, k = 1: 5
views        READERS ≥ 2, WRITERS = 2, k = 1: 5
views        READERS ≥ 2, WRITERS = 3, k = 1: 5
views        READERS ≥ 2, WRITERS = 4, k = 1: 5
rechecked    the views, in 14 states with READERS ≥ 2, WRITERS ≥ 5
compared     all states with (READERS, WRITERS) = (2, 5) (7 states)
cut-off      READERS = 2, WRITERS = 5: what the shared variables and any 1 of the other values of `reader` and any 1 of the other values of `writer` hold with any READERS ≥ 2, WRITERS ≥ 5, they hold with READERS = 2, WRITERS = 5
rechecked    the views, in 10 states with READERS = 1, WRITERS ≥ 5
compared     all states with (READERS, WRITERS) = (1, 5) (5 states), (1, 6) (5 states)
cut-off      READERS = 1, WRITERS = 5: what the shared variables and all of the other values of `reader` and any 1 of the other values of `writer` hold with any READERS = 1, WRITERS ≥ 5, they hold with READERS = 1, WRITERS = 5
rechecked    the views, in 7 states with READERS ≥ 2, WRITERS = 1
compared     all states with (READERS, WRITERS) = (2, 1) (7 states), (3, 1) (9 states), (4, 1) (11 states), (5, 1) (13 states), (6, 1) (15 states)
cut-off      READERS = 2, WRITERS = 1: what the shared variables and any 1 of the other values of `reader` and all of the other values of `writer` hold with any READERS ≥ 2, WRITERS = 1, they hold with READERS = 2, WRITERS = 1
rechecked    the views, in 7 states with READERS ≥ 2, WRITERS = 2
compared     all states with (READERS, WRITERS) = (2, 2) (7 states), (3, 2) (9 states), (4, 2) (11 states), (5, 2) (13 states)
cut-off      READERS = 2, WRITERS = 2: what the shared variables and any 1 of the other values of `reader` and all of the other values of `writer` hold with any READERS ≥ 2, WRITERS = 2, they hold with READERS = 2, WRITERS = 2
rechecked    the views, in 7 states with READERS ≥ 2, WRITERS = 3
compared     all states with (READERS, WRITERS) = (2, 3) (7 states), (3, 3) (9 states), (4, 3) (11 states)
cut-off      READERS = 2, WRITERS = 3: what the shared variables and any 1 of the other values of `reader` and all of the other values of `writer` hold with any READERS ≥ 2, WRITERS = 3, they hold with READERS = 2, WRITERS = 3
rechecked    the views, in 7 states with READERS ≥ 2, WRITERS = 4
compared     all states with (READERS, WRITERS) = (2, 4) (7 states), (3, 4) (9 states)
cut-off      READERS = 2, WRITERS = 4: what the shared variables and any 1 of the other values of `reader` and all of the other values of `writer` hold with any READERS ≥ 2, WRITERS = 4, they hold with READERS = 2, WRITERS = 4
time         …

for READERS ≥ 2, WRITERS ≥ 5, the shared variables and any 1 of the other values of `reader` and any 1 of the other values of `writer` are like one of these:
  always
    reader (reads = false) and writer (writer_at = outside)
    reader (reads = true) and writer (writer_at = outside)
  closed_by = #1; #1: writer_at = closing
    reader (reads = false) and writer (writer_at = outside)
    reader (reads = true) and writer (writer_at = outside)
  closed_by = #1; #1: writer_at = writing
    reader (reads = false) and writer (writer_at = outside)

other invariants (--format json has them): READERS = 1, WRITERS ≥ 5; READERS ≥ 2, WRITERS = 1; READERS ≥ 2, WRITERS = 2; READERS ≥ 2, WRITERS = 3; READERS ≥ 2, WRITERS = 4
---- exit status 0

"#]],
    );
    let path = format!("{MODELS}/every/clients_and_servers.m");
    let both = ["check", "--every", "CLIENTS", "--every", "SERVERS", &path];
    expect(
        quotient([&both[..], &["-D", "WRONG=1"]].concat()),
        str![[r#"
violated with CLIENTS = 1, SERVERS = 2, the smallest sum

violated: invariant "one works on a request"

 0  Startstate "nothing to do"
      client_at[client_0]: thinking
      works[server_0]: false
      works[server_1]: false
      request: undefined
      worker: undefined
 1  Rule "ask", c: client_0
      client_at[client_0]: thinking → waiting
      request: undefined → client_0
 2  Rule "take the request", s: server_0
      works[server_0]: false → true
      worker: undefined → server_0
 3  Rule "take the request", s: server_1
      works[server_1]: false → true
      worker: server_0 → server_1
    invariant "one works on a request" fails here
    ../../../../models/every/clients_and_servers.m:70:1
    70 | invariant "one works on a request"
    false for s = server_0, t = server_1: s = t (../../../../models/every/clients_and_servers.m:71:66)
      while works[s] & works[t]

violated   invariant  one works on a request
undecided  invariant  whose request is worked on waits
undecided  no errors

symmetries   2, S2; found in …
reduction    canonical; …
slice        only read for being defined: worker
states       3, representing 4 of the slice (1.33× reduction)
transitions  4
depth        2
time         …
memory       …

checked      "one works on a request", "whose request is worked on waits" and run-time errors; not deadlocks
searched     (CLIENTS, SERVERS) = (1, 1) (4 states), (1, 2) (3 states)
time         …
---- exit status 1

"#]],
    );
    expect(
        quotient([&both[..], &["--every-method", "backward"]].concat()),
        str![[r#"
---- stderr
error: --every: a search backward is for one type of objects, and there are two here
---- exit status 2

"#]],
    );
    expect(
        quotient([&both[..], &["--every", "CLIENTS"]].concat()),
        str![[r#"
---- stderr
error: --every: `CLIENTS` is given twice
---- exit status 2

"#]],
    );
    expect(
        every("every/couriers.m", &[]),
        str![[r#"
holds for every N ≥ 1

checked      "one letter is on the way" and run-time errors; not deadlocks
searched     N = 1 (6 states), 2 (9 states), 3 (12 states)
views        k = 1: 6; too coarse: `one letter is on the way` does not hold in a state with 4 of `sender` and 4 of `courier`, which need not be reachable
views        k = 2: 9
rechecked    the views, in 27 states with N ≥ 4
compared     all states with N = 4 (15 states), 5 (18 states), 6 (21 states)
cut-off      N = 2: what the shared variables and any 2 of the other values of `sender` and any 2 of the other values of `courier` hold with any N ≥ 1, they hold with N = 2
time         …

for N ≥ 4, the shared variables and any 2 of the other values of `sender` and any 2 of the other values of `courier` are like one of these:
  full = false
    sender (has_letter = false) and sender (has_letter = false) and courier (rides = false) and courier (rides = false)
    sender (has_letter = false) and sender (has_letter = false) and courier (rides = false) and courier (rides = true)
    sender (has_letter = false) and sender (has_letter = true) and courier (rides = false) and courier (rides = false)
    sender (has_letter = false) and sender (has_letter = true) and courier (rides = false) and courier (rides = true)
    sender (has_letter = true) and sender (has_letter = true) and courier (rides = false) and courier (rides = false)
    sender (has_letter = true) and sender (has_letter = true) and courier (rides = false) and courier (rides = true)
  full = true
    sender (has_letter = false) and sender (has_letter = false) and courier (rides = false) and courier (rides = false)
    sender (has_letter = false) and sender (has_letter = true) and courier (rides = false) and courier (rides = false)
    sender (has_letter = true) and sender (has_letter = true) and courier (rides = false) and courier (rides = false)
---- exit status 0

"#]],
    );
}

#[test]
fn a_cut_off_that_the_text_shows() {
    expect(
        every("every/alarm.m", &["--every-method", "cutoff"]),
        str![[r#"
holds for every N ≥ 1

checked      "no alarm without a fire" and run-time errors; not deadlocks
searched     N = 1 (3 states), 2 (6 states), 3 (10 states), 4 (15 states)
cut-off      N = 4 (Emerson and Kahlon 2000: guards ask only whether some process is somewhere); a process holds one of 3 contents; one process shows what is wrong
time         …
---- exit status 0

"#]],
    );
    expect(
        every("every/readers_writers.m", &["--every-method", "cutoff"]),
        str![[r#"
holds for every N ≥ 1

checked      "a writer is alone" and run-time errors; not deadlocks
searched     N = 1 (3 states), 2 (13 states)
cut-off      N = 2 (Emerson and Kahlon 2000: guards ask only whether all processes are somewhere); 2 processes show what is wrong
time         …
---- exit status 0

"#]],
    );
    expect(
        every("every/synapse.m", &["--every-method", "cutoff"]),
        str![[r#"
---- stderr
error[no-cut-off]: the text shows no cut-off for N: a step asks about all objects, or changes all, after its guard
  --> ../../../../models/every/synapse.m:30:3
   |
30 | /   rule "read miss"
31 | |     at[n] = invalid
32 | |   ==>
33 | |     for m: node do
...  |
38 | |     at[n] := valid;
39 | |   end;
   | |_____^

error[no-cut-off]: the text shows no cut-off for N: a step asks about all objects, or changes all, after its guard
  --> ../../../../models/every/synapse.m:41:3
   |
41 | /   rule "write"
42 | |     at[n] != dirty
43 | |   ==>
44 | |     for m: node do
...  |
49 | |     at[n] := dirty;
50 | |   end;
   | |_____^

2 errors
---- exit status 3

"#]],
    );
}

#[test]
fn options_that_are_refused() {
    let path = format!("{MODELS}/every/msi.m");
    expect(
        every("every/msi.m", &["--property", "deadlock"]),
        str![[r#"
---- stderr
error: --every: it cannot be used with deadlocks: they are not claimed for every size
---- exit status 2

"#]],
    );
    expect(
        every("every/msi.m", &["--engine", "sat"]),
        str![[r#"
---- stderr
error: --every: it cannot be used with --engine: it searches views, and small models in the usual way
---- exit status 2

"#]],
    );
    expect(
        every("every/msi.m", &["--max-states", "5"]),
        str![[r#"
---- stderr
error: --every: it cannot be used with --max-states and --max-depth: use --timeout and --max-memory
---- exit status 2

"#]],
    );
    expect(
        quotient(["check", "--every", "M", &path]),
        str![[r#"
---- stderr
error: --every: the text has no constant `M` that can be set; there are: `N`, `WRONG`
---- exit status 2

"#]],
    );
    expect(
        quotient(["check", "--every", "N=0", &path]),
        str![[r#"
---- stderr
error: --every: `N` is the number of objects, and begins with 1
---- exit status 2

"#]],
    );
    expect(
        quotient(["check", "--every", "WRONG", &path]),
        str![[r#"
---- stderr
error[not-every-size]: not for every WRONG: no type has a number of values that depends on the constant
--> ../../../../models/every/msi.m

1 error
---- exit status 3

"#]],
    );
}
