//! Transcripts of `quotient check --every`: claims about all values of a constant.

mod transcript;

use snapbox::str;
use transcript::{expect, quotient};

const MODELS: &str = "../../../../models";

fn every(model: &str, arguments: &[&str]) -> transcript::Transcript {
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
compared     all states with N = 2 (3 states), 3 (4 states), 4 (5 states), 5 (6 states), 6 (7 states)
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
fn two_types_of_processes() {
    let path = format!("{MODELS}/every/readers_and_writers.m");
    let both = ["check", "--every", "READERS", "--every", "WRITERS", &path];
    expect(quotient(both), str![]);
    let path = format!("{MODELS}/every/clients_and_servers.m");
    let both = ["check", "--every", "CLIENTS", "--every", "SERVERS", &path];
    expect(quotient([&both[..], &["-D", "WRONG=1"]].concat()), str![]);
    expect(quotient([&both[..], &["--every-method", "backward"]].concat()), str![]);
    expect(quotient([&both[..], &["--every", "CLIENTS"]].concat()), str![]);
    expect(every("every/couriers.m", &[]), str![]);
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
