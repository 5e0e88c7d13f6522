//! Transcripts of `quotient check` on what is claimed of B machines: the invariant and the assertions.

use crate::transcript::{expect, quotient};
use snapbox::str;

/// What leaves the bounds of the invariant violates it, with the run and the value.
#[test]
fn a_value_beyond_the_bounds_of_the_invariant() {
    expect(
        quotient(["check", "bounds.mch"]),
        str![[r#"
violated: invariant "n : 0..2"

 0  root
 1  INITIALISATION
      n: 0
      on: FALSE
 2  operation up
      n: 0 → 1
      on: FALSE → TRUE
 3  operation up
      n: 1 → 2
    operation up leads to a violation: the invariant `n : 0..2` does not hold: `n` would be 3
    bounds.mch:7:3
    7 |   up = BEGIN n := n + 1 || on := TRUE END

violated   invariant  n : 0..2
undecided  invariant  on : BOOL
undecided  no deadlock
undecided  no errors

symmetries   none found (…
slice        not read by anything: on
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

 0  root
 1  INITIALISATION
      n: 0
      on: FALSE
 2  operation up
      n: 0 → 1
      on: FALSE → TRUE
 3  operation up
      n: 1 → 2
    operation up leads to a violation: the invariant `n : 0..2` does not hold: `n` would be 3
    bounds.mch:7:3
    7 |   up = BEGIN n := n + 1 || on := TRUE END

violated   invariant  n : 0..2

symmetries   none found (…
slice        not read by anything: on
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
inconclusive: run-time error: the invariant `n : 0..2` does not hold: `n` would be 3

 0  root
 1  INITIALISATION
      n: 0
      on: FALSE
 2  operation up
      n: 0 → 1
      on: FALSE → TRUE
 3  operation up
      n: 1 → 2
    operation up leads to a violation: the invariant `n : 0..2` does not hold: `n` would be 3
    bounds.mch:7:3
    7 |   up = BEGIN n := n + 1 || on := TRUE END

A value beyond its bounds ends the search, and the invariant that bounds it was not asked for.
To have it judged as a violation, add --property 'n : 0..2'

undecided  invariant  on : BOOL

symmetries   none found (…
slice        not read by anything: on
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

 0  root
 1  INITIALISATION
      n: 0
 2  operation up
      n: 0 → 1
 3  operation up
      n: 1 → 2
    assertion "n < 2" fails here
    assertions.mch:5:20
    5 | ASSERTIONS n >= 0; n < 2
    false: n < 2 (assertions.mch:5:20)
      while stage = initialised
      here n = 2

undecided  invariant  n : 0..2
undecided  assertion  n >= 0
violated   assertion  n < 2
undecided  no deadlock
undecided  no errors

symmetries   none found (…
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
{"schema":"quotient/1","command":"check","threads":1,"verdict":"violated","summary":"violated: assertion \"n < 2\"","stop_reason":"violation","stop_message":"a violation was found","states":3,"transitions":4,"represented":"3","exact":true,"reduction":"none","reduction_factor":1.0,"symmetry":{"order":"1","structure":"trivial","generators":[],"graph":{"…"},"seconds":"…","method":"…","complete":true},"properties":[{"name":"n < 2","kind":"assertion","title":"assertion \"n < 2\"","verdict":"violated","trace":[{"rule":"root","arguments":{},"state":{"stage":"uninitialised","n":0},"operation":"root","shown":{}},{"rule":"INITIALISATION","arguments":{},"state":{"stage":"initialised","n":0},"operation":"INITIALISATION","shown":{"n":"0"}},{"rule":"up","arguments":{},"state":{"stage":"initialised","n":1},"operation":"up","shown":{"n":"1"}},{"rule":"up","arguments":{},"state":{"stage":"initialised","n":2},"operation":"up","shown":{"n":"2"}}],"violation":{"message":"assertion \"n < 2\" fails here","file":"assertions.mch","line":5,"column":20,"context":{"part":{"text":"n < 2","value":false,"file":"assertions.mch","line":5,"column":20,"given":["stage = initialised"],"values":{"n":"2"}}},"rule":{"name":"up","arguments":{},"file":"assertions.mch","line":8,"column":3}}}],"depth":2,"states_per_level":[1,1,1],"seconds":"…","canonicalization_seconds":null,"store_bytes":"…","words":1,"peak_memory_bytes":"…","diagnostics":[]}
---- exit status 1

"#]],
    );
}

/// A guard or condition without a value counts as false; each place is noted once, with a run.
#[test]
fn conditions_without_a_value_are_noted() {
    expect(
        quotient(["check", "partial.mch"]),
        str![[r#"
holds

holds      invariant  book : Name +-> 0..2
holds      invariant  last : Name
holds      no deadlock
holds      no errors

note: `book(last) < 2` has no value: a function applied outside its domain (partial.mch:9:15)
      after root; INITIALISATION; operation choose(n=bob)
note: `book(last) < 1` has no value: a function applied outside its domain (partial.mch:10:21)
      after root; INITIALISATION; operation choose(n=bob)
      A condition of an operation without a value counts as false; --well-definedness error makes it a violation

symmetries   none found (…
states       5
transitions  12
depth        3
time         …
memory       …
---- exit status 0

"#]],
    );
    expect(
        quotient(["check", "--well-definedness", "error", "partial.mch"]),
        str![[r#"
violated: error: a function applied outside its domain (partial.mch:9:15)

 0  root
 1  INITIALISATION
      book: {(ann|->1)}
      last: ann
 2  operation choose(n=bob)
      last: ann → bob
    operation up fails here: a function applied outside its domain (partial.mch:9:15)
    partial.mch:9:15
    9 |   up = SELECT book(last) < 2 THEN book(last) := book(last) + 1 END;

undecided  invariant  book : Name +-> 0..2
undecided  invariant  last : Name
undecided  no deadlock
violated   no errors

symmetries   none found (…
states       4
transitions  7
depth        2
time         …
memory       …
---- exit status 1

"#]],
    );
    expect(
        quotient(["check", "--format", "json", "partial.mch"]),
        str![[r#"
{"schema":"quotient/1","command":"check","threads":1,"verdict":"holds","summary":"holds","stop_reason":null,"stop_message":null,"states":5,"transitions":12,"represented":"5","exact":true,"reduction":"none","reduction_factor":1.0,"symmetry":{"order":"1","structure":"trivial","generators":[],"graph":{"…"},"seconds":"…","method":"…","complete":true},"properties":[{"name":"book : Name +-> 0..2","kind":"invariant","title":"invariant \"book : Name +-> 0..2\"","verdict":"holds","trace":null,"violation":null},{"name":"last : Name","kind":"invariant","title":"invariant \"last : Name\"","verdict":"holds","trace":null,"violation":null},{"name":"deadlock","kind":"deadlock","title":"no deadlock","verdict":"holds","trace":null,"violation":null},{"name":"errors","kind":"errors","title":"no errors","verdict":"holds","trace":null,"violation":null}],"remarks":[{"message":"`book(last) < 2` has no value: a function applied outside its domain","file":"partial.mch","line":9,"column":15,"trace":[{"rule":"root","arguments":{},"state":{"stage":"uninitialised","book[ann]":null,"book[bob]":null,"last":"ann"},"operation":"root","shown":{}},{"rule":"INITIALISATION","arguments":{},"state":{"stage":"initialised","book[ann]":1,"book[bob]":null,"last":"ann"},"operation":"INITIALISATION","shown":{"book":"{(ann|->1)}","last":"ann"}},{"rule":"choose","arguments":{"n":"bob"},"state":{"stage":"initialised","book[ann]":1,"book[bob]":null,"last":"bob"},"operation":"choose(n=bob)","shown":{"book":"{(ann|->1)}","last":"bob"}}]},{"message":"`book(last) < 1` has no value: a function applied outside its domain","file":"partial.mch","line":10,"column":21,"trace":[{"rule":"root","arguments":{},"state":{"stage":"uninitialised","book[ann]":null,"book[bob]":null,"last":"ann"},"operation":"root","shown":{}},{"rule":"INITIALISATION","arguments":{},"state":{"stage":"initialised","book[ann]":1,"book[bob]":null,"last":"ann"},"operation":"INITIALISATION","shown":{"book":"{(ann|->1)}","last":"ann"}},{"rule":"choose","arguments":{"n":"bob"},"state":{"stage":"initialised","book[ann]":1,"book[bob]":null,"last":"bob"},"operation":"choose(n=bob)","shown":{"book":"{(ann|->1)}","last":"bob"}}]}],"depth":3,"states_per_level":[1,1,2,1],"never_fired":[],"seconds":"…","canonicalization_seconds":null,"store_bytes":"…","words":1,"peak_memory_bytes":"…","diagnostics":[]}
---- exit status 0

"#]],
    );
}

#[test]
fn well_definedness_is_for_b() {
    expect(
        quotient(["check", "--well-definedness", "error", "counter.m"]),
        str![[r#"
---- stderr
error: --well-definedness is for B machines
---- exit status 2

"#]],
    );
}

/// Symmetries are told in the notation of B: members of a relation, values of a function.
#[test]
fn symmetries_read_like_b() {
    let said = quotient(["detect", "../../../../models/b/Towns.mch"]);
    assert!(said.stdout.contains("(TOWN1|->TOWN1) : roads ↔ (TOWN2|->TOWN2) : roads"), "{said}");
    let said = quotient(["detect", "../../../../models/b/USB.mch"]);
    assert!(said.stdout.contains("kind(Transfer2): control ↔ interrupt"), "{said}");
}
