//! Transcripts of `quotient check` on what is claimed of B machines: the invariant and the assertions.

mod transcript;

use snapbox::str;
use transcript::{expect, quotient};

/// What leaves the bounds of the invariant violates it, with the run and the value.
#[test]
fn a_value_beyond_the_bounds_of_the_invariant() {
    expect(
        quotient(["check", "bounds.mch"]),
        str![[r#"
violated: invariant "n : 0..2"

 0  Startstate "root"
      stage: uninitialised
      n: 0
      on: FALSE
 1  Rule "INITIALISATION"
      stage: uninitialised → initialised
 2  Rule "up"
      n: 0 → 1
      on: FALSE → TRUE
 3  Rule "up"
      n: 1 → 2
    Rule "up" leads to a violation: the invariant `n : 0..2` does not hold: `n` would be 3
    bounds.mch:7:3
    7 |   up = BEGIN n := n + 1 || on := TRUE END

violated   invariant  n : 0..2
undecided  invariant  on : BOOL
undecided  no deadlock
undecided  no errors

symmetries   none; looked for in …
states       4
transitions  3
depth        3
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn a_value_beyond_the_bounds_of_a_selected_invariant() {
    expect(
        quotient(["check", "bounds.mch", "--property", "n : 0..2"]),
        str![[r#"
violated: invariant "n : 0..2"

 0  Startstate "root"
      stage: uninitialised
      n: 0
      on: FALSE
 1  Rule "INITIALISATION"
      stage: uninitialised → initialised
 2  Rule "up"
      n: 0 → 1
      on: FALSE → TRUE
 3  Rule "up"
      n: 1 → 2
    Rule "up" leads to a violation: the invariant `n : 0..2` does not hold: `n` would be 3
    bounds.mch:7:3
    7 |   up = BEGIN n := n + 1 || on := TRUE END

violated   invariant  n : 0..2

symmetries   none; looked for in …
states       4
transitions  3
depth        3
time         …
memory       …
---- exit status 1

"#]],
    );
}

/// What comes after is not searched, whatever else was asked for.
#[test]
fn a_value_beyond_the_bounds_of_another_invariant() {
    expect(
        quotient(["check", "bounds.mch", "--property", "on : BOOL"]),
        str![[r#"
inconclusive: the model went wrong: the invariant `n : 0..2` does not hold: `n` would be 3

 0  Startstate "root"
      stage: uninitialised
      n: 0
      on: FALSE
 1  Rule "INITIALISATION"
      stage: uninitialised → initialised
 2  Rule "up"
      n: 0 → 1
      on: FALSE → TRUE
 3  Rule "up"
      n: 1 → 2
    Rule "up" leads to a violation: the invariant `n : 0..2` does not hold: `n` would be 3
    bounds.mch:7:3
    7 |   up = BEGIN n := n + 1 || on := TRUE END

A value beyond its bounds ends the search, and the invariant that bounds it was not asked for.
To have it judged as a violation, add --property 'n : 0..2'

undecided  invariant  on : BOOL

symmetries   none; looked for in …
states       4
transitions  3
depth        3
time         …
memory       …
---- exit status 4

"#]],
    );
}

#[test]
fn assertions_are_apart_from_the_invariant() {
    expect(
        quotient(["check", "assertions.mch"]),
        str![[r#"
violated: assertion "n < 2"

 0  Startstate "root"
      stage: uninitialised
      n: 0
 1  Rule "INITIALISATION"
      stage: uninitialised → initialised
 2  Rule "up"
      n: 0 → 1
 3  Rule "up"
      n: 1 → 2
    assertion "n < 2" does not hold here
    assertions.mch:5:20
    5 | ASSERTIONS n >= 0; n < 2

undecided  invariant  n : 0..2
undecided  assertion  n >= 0
violated   assertion  n < 2
undecided  no deadlock
undecided  no errors

symmetries   none; looked for in …
states       3
transitions  4
depth        2
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn assertions_in_json() {
    expect(
        quotient(["check", "--format", "json", "--property", "n < 2", "assertions.mch"]),
        str![[r#"
{"schema":"quotient/1","command":"check","verdict":"violated","stop_reason":"violation","states":3,"transitions":4,"represented":"3","exact":true,"reduction":"none","reduction_factor":1.0,"symmetry":{"order":"1","structure":"trivial","generators":[],"graph":{"…"},"seconds":"…","method":"…","complete":true},"properties":[{"name":"n < 2","kind":"assertion","verdict":"violated","trace":[{"rule":"root","arguments":{},"state":{"stage":"uninitialised","n":0}},{"rule":"INITIALISATION","arguments":{},"state":{"stage":"initialised","n":0}},{"rule":"up","arguments":{},"state":{"stage":"initialised","n":1}},{"rule":"up","arguments":{},"state":{"stage":"initialised","n":2}}],"violation":{"message":"assertion \"n < 2\" does not hold here","file":"assertions.mch","line":5,"column":20}}],"depth":2,"seconds":"…","canonicalization_seconds":null,"store_bytes":"…","words":1,"peak_memory_bytes":"…","diagnostics":[]}
---- exit status 1

"#]],
    );
}

/// A guard or condition without a value counts as false; each place is noted once, with a run.
#[test]
fn conditions_without_a_value_are_noted() {
    expect(quotient(["check", "partial.mch"]), str![[r#""#]]);
    expect(quotient(["check", "--well-definedness", "error", "partial.mch"]), str![[r#""#]]);
    expect(quotient(["check", "--format", "json", "partial.mch"]), str![[r#""#]]);
}

#[test]
fn well_definedness_is_for_b() {
    expect(quotient(["check", "--well-definedness", "error", "counter.m"]), str![[r#""#]]);
}
