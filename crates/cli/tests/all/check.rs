//! Transcripts of `quotient check`.

use crate::transcript::{expect, quotient, quotient_with};
use snapbox::str;

#[test]
fn holds() {
    expect(
        quotient(["check", "counter.m"]),
        str![[r#"
holds

holds      invariant         in range
holds      cover             reaches the limit
holds      liveness (AG EF)  always comes back
holds      no deadlock
holds      no errors

symmetries   none found (…
states       4
transitions  4
depth        3
time         …
memory       …
---- exit status 0

"#]],
    );
}

#[test]
fn holds_json() {
    expect(
        quotient(["check", "--format", "json", "counter.m"]),
        str![[r#"
{"schema":"quotient/1","command":"check","threads":1,"verdict":"holds","summary":"holds","stop_reason":null,"stop_message":null,"states":4,"transitions":4,"represented":"4","exact":true,"reduction":"none","reduction_factor":1.0,"symmetry":{"order":"1","structure":"trivial","generators":[],"graph":{"…"},"seconds":"…","method":"…","complete":true},"properties":[{"name":"in range","kind":"invariant","title":"invariant \"in range\"","verdict":"holds","trace":null,"violation":null},{"name":"reaches the limit","kind":"cover","title":"cover \"reaches the limit\"","verdict":"holds","trace":null,"violation":null},{"name":"always comes back","kind":"liveness","title":"liveness \"always comes back\"","verdict":"holds","trace":null,"violation":null},{"name":"deadlock","kind":"deadlock","title":"no deadlock","verdict":"holds","trace":null,"violation":null},{"name":"errors","kind":"errors","title":"no errors","verdict":"holds","trace":null,"violation":null}],"depth":3,"states_per_level":[1,1,1,1],"never_fired":[],"seconds":"…","canonicalization_seconds":null,"store_bytes":"…","words":1,"peak_memory_bytes":"…","diagnostics":[]}
---- exit status 0

"#]],
    );
}

#[test]
fn invariant_violated() {
    expect(
        quotient(["check", "mutex.m"]),
        str![[r#"
violated: invariant "mutual exclusion"

 0  Startstate "free"
      at[process_0]: idle
      at[process_1]: idle
      locked: false
      last: undefined
 1  Rule "try", p: process_0
      at[process_0]: idle → trying
 2  Rule "try", p: process_1
      at[process_1]: idle → trying
 3  Rule "enter", p: process_0
      at[process_0]: trying → critical
      locked: false → true
      last: undefined → process_0
 4  Rule "enter", p: process_1
      at[process_1]: trying → critical
      last: process_0 → process_1
    invariant "mutual exclusion" fails here
    mutex.m:37:1
    37 | invariant "mutual exclusion"
    true for p = process_0, q = process_1: at[p] = critical & at[q] = critical (mutex.m:39:17)
      while p != q
      here at[process_0] = critical, at[process_1] = critical

violated   invariant  mutual exclusion
holds      cover      both try
undecided  no deadlock
undecided  no errors

symmetries   2, S2; found in …
reduction    canonical; …
slice        not read by anything: last
states       5, representing 8 of the slice (1.60× reduction)
transitions  8
depth        3
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn invariant_violated_json() {
    expect(
        quotient(["check", "--format=json", "mutex.m"]),
        str![[r#"
{"schema":"quotient/1","command":"check","threads":1,"verdict":"violated","summary":"violated: invariant \"mutual exclusion\"","stop_reason":"violation","stop_message":"a violation was found","states":5,"transitions":8,"represented":"8","exact":true,"slice":{"unread":["last"],"only_definedness":[],"dead":[]},"reduction":"canonical","reduction_factor":1.6,"symmetry":{"order":"2","structure":"S2","generators":[{"cycles":["(process 0 1)"]}],"graph":{"…"},"seconds":"…","method":"…","complete":true},"properties":[{"name":"mutual exclusion","kind":"invariant","title":"invariant \"mutual exclusion\"","verdict":"violated","trace":[{"rule":"free","arguments":{},"state":{"at[process_0]":"idle","at[process_1]":"idle","locked":false,"last":null}},{"rule":"try","arguments":{"p":"process_0"},"state":{"at[process_0]":"trying","at[process_1]":"idle","locked":false,"last":null}},{"rule":"try","arguments":{"p":"process_1"},"state":{"at[process_0]":"trying","at[process_1]":"trying","locked":false,"last":null}},{"rule":"enter","arguments":{"p":"process_0"},"state":{"at[process_0]":"critical","at[process_1]":"trying","locked":true,"last":"process_0"}},{"rule":"enter","arguments":{"p":"process_1"},"state":{"at[process_0]":"critical","at[process_1]":"critical","locked":true,"last":"process_1"}}],"violation":{"message":"invariant \"mutual exclusion\" fails here","file":"mutex.m","line":37,"column":1,"context":{"bindings":{"p":"process_0","q":"process_1"},"part":{"text":"at[p] = critical & at[q] = critical","value":true,"file":"mutex.m","line":39,"column":17,"given":["p != q"],"values":{"at[process_0]":"critical","at[process_1]":"critical"}}},"rule":{"name":"enter","arguments":{"p":"process_1"},"file":"mutex.m","line":23,"column":3}}},{"name":"both try","kind":"cover","title":"cover \"both try\"","verdict":"holds","trace":null,"violation":null},{"name":"deadlock","kind":"deadlock","title":"no deadlock","verdict":"undecided","trace":null,"violation":null},{"name":"errors","kind":"errors","title":"no errors","verdict":"undecided","trace":null,"violation":null}],"depth":3,"states_per_level":[1,1,2,1],"seconds":"…","canonicalization_seconds":"…","store_bytes":"…","words":1,"peak_memory_bytes":"…","diagnostics":[]}
---- exit status 1

"#]],
    );
}

#[test]
fn deadlock_by_stuttering() {
    expect(
        quotient(["check", "stuck.m"]),
        str![[r#"
violated: deadlock

 0  Startstate 1 (stuck.m:3:1)
      x: 0
 1  Rule "walk"
      x: 0 → 1
 2  Rule "walk"
      x: 1 → 2
    deadlock: no rule can fire here and change the state

If the model is meant to end here, add --deadlock off

violated   no deadlock
undecided  no errors

symmetries   none found (…
states       3
transitions  3
depth        2
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn no_deadlock_while_a_rule_fires() {
    expect(
        quotient(["check", "--deadlock", "stuck", "stuck.m"]),
        str![[r#"
holds

holds      no deadlock
holds      no errors

symmetries   none found (…
states       3
transitions  3
depth        2
time         …
memory       …
---- exit status 0

"#]],
    );
}

#[test]
fn error_in_a_rule() {
    expect(
        quotient(["check", "faulty.m"]),
        str![[r#"
violated: error: value 4 is out of range 0..3 of `x`

 0  Startstate "start"
      x: 0
      y: undefined
 1  Rule "grow"
      x: 0 → 1
 2  Rule "grow"
      x: 1 → 2
 3  Rule "grow"
      x: 2 → 3
    Rule "leap", step: 1 fails here: value 4 is out of range 0..3 of `x`
    faulty.m:8:31
    8 |   rule "leap" x = 3 ==> begin x := x + step; end;

undecided  invariant  small
undecided  no deadlock
violated   no errors

symmetries   none found (…
slice        not read by anything: y
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
fn error_that_is_not_asked_about() {
    expect(
        quotient(["check", "--property", "small", "faulty.m"]),
        str![[r#"
inconclusive: run-time error: value 4 is out of range 0..3 of `x`

 0  Startstate "start"
      x: 0
      y: undefined
 1  Rule "grow"
      x: 0 → 1
 2  Rule "grow"
      x: 1 → 2
 3  Rule "grow"
      x: 2 → 3
    Rule "leap", step: 1 fails here: value 4 is out of range 0..3 of `x`
    faulty.m:8:31
    8 |   rule "leap" x = 3 ==> begin x := x + step; end;

An error ends the search, and no property that was asked for is about errors.
To have it judged as a violation, add --property errors; to continue past it, --all-errors

undecided  invariant  small

symmetries   none found (…
slice        not read by anything: y
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
fn cover_and_liveness_violated() {
    expect(
        quotient(["check", "--deadlock", "off", "missed.m"]),
        str![[r#"
violated: cover "three", liveness "home"

cover "three"
  no reachable state satisfies it
  missed.m:7:1
  7 | cover "three" x = 3;

liveness "home"
 0  Startstate "zero"
      x: 0
 1  Rule "leave"
      x: 0 → 1
    from here no state can be reached that satisfies liveness "home"
    missed.m:9:1
    9 | liveness "home" x = 0;

violated   cover             three
holds      cover             cover 2 (missed.m:8:1)
violated   liveness (AG EF)  home
holds      no errors

symmetries   none found (…
states       3
transitions  3
depth        2
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn constant_overridden() {
    expect(
        quotient(["check", "-D", "Limit=9", "counter.m"]),
        str![[r#"
holds

holds      invariant         in range
holds      cover             reaches the limit
holds      liveness (AG EF)  always comes back
holds      no deadlock
holds      no errors

symmetries   none found (…
states       10
transitions  10
depth        9
time         …
memory       …
---- exit status 0

"#]],
    );
}

#[test]
fn depth_first() {
    expect(
        quotient(["check", "--search", "dfs", "counter.m"]),
        str![[r#"
holds

holds      invariant         in range
holds      cover             reaches the limit
holds      liveness (AG EF)  always comes back
holds      no deadlock
holds      no errors

symmetries   none found (…
states       4
transitions  4
depth        3
time         …
memory       …
---- exit status 0

"#]],
    );
}

#[test]
fn one_property() {
    expect(
        quotient(["check", "--property", "both try", "--property", "errors", "mutex.m"]),
        str![[r#"
holds

holds      cover      both try
holds      no errors

symmetries   2, S2; found in …
reduction    canonical; …
slice        not read by anything: last
states       8, representing 13 of the slice (1.62× reduction)
transitions  15
depth        6
time         …
memory       …
---- exit status 0

"#]],
    );
}

#[test]
fn unknown_property() {
    expect(
        quotient(["check", "--property", "mutal exclusion", "mutex.m"]),
        str![[r#"
---- stderr
error: the model has no property `mutal exclusion`; did you mean `mutual exclusion`?
---- exit status 2

"#]],
    );
}

#[test]
fn unknown_property_unlike_any() {
    expect(
        quotient(["check", "--property", "xyz", "mutex.m"]),
        str![[r#"
---- stderr
error: the model has no property `xyz`; it has `mutual exclusion`, `both try`, `deadlock`, `errors`
---- exit status 2

"#]],
    );
}

#[test]
fn contradictory_deadlock() {
    expect(
        quotient(["check", "--property", "deadlock", "--deadlock", "off", "mutex.m"]),
        str![[r#"
---- stderr
error: --property deadlock contradicts --deadlock off
---- exit status 2

"#]],
    );
}

#[test]
fn state_limit() {
    expect(
        quotient(["check", "--max-states", "2", "counter.m"]),
        str![[r#"
inconclusive: the limit of 2 states was reached

undecided  invariant         in range
undecided  cover             reaches the limit
undecided  liveness (AG EF)  always comes back
undecided  no deadlock
undecided  no errors

symmetries   none found (…
states       2
transitions  2
depth        1
time         …
memory       …
---- exit status 4

"#]],
    );
}

#[test]
fn depth_limit() {
    expect(
        quotient(["check", "--max-depth", "2", "counter.m"]),
        str![[r#"
inconclusive: the limit of 2 steps was reached

undecided  invariant         in range
undecided  cover             reaches the limit
undecided  liveness (AG EF)  always comes back
undecided  no deadlock
undecided  no errors

symmetries   none found (…
states       3
transitions  2
depth        2
time         …
memory       …
---- exit status 4

"#]],
    );
}

#[test]
fn statistics() {
    expect(
        quotient(["check", "--statistics", "--property", "errors", "workers.m"]),
        str![[r#"
holds

holds      no errors

symmetries   24, S4; found in …
reduction    canonical; …
slice        not read by anything: last
states       15, representing 81 of the slice (5.40× reduction)
transitions  60
depth        8
time         …
memory       …
fired        108  begin (line 24)
             108  finish (line 30)
             108  rest (line 35)
levels       1 1 2 2 3 2 2 1 1
---- exit status 0

"#]],
    );
    expect(
        quotient(["check", "--statistics", "--property", "mutual exclusion", "mutex.m"]),
        str![[r#"
violated: invariant "mutual exclusion"

 0  Startstate "free"
      at[process_0]: idle
      at[process_1]: idle
      locked: false
      last: undefined
 1  Rule "try", p: process_0
      at[process_0]: idle → trying
 2  Rule "try", p: process_1
      at[process_1]: idle → trying
 3  Rule "enter", p: process_0
      at[process_0]: trying → critical
      locked: false → true
      last: undefined → process_0
 4  Rule "enter", p: process_1
      at[process_1]: trying → critical
      last: process_0 → process_1
    invariant "mutual exclusion" fails here
    mutex.m:37:1
    37 | invariant "mutual exclusion"
    true for p = process_0, q = process_1: at[p] = critical & at[q] = critical (mutex.m:39:17)
      while p != q
      here at[process_0] = critical, at[process_1] = critical

violated   invariant  mutual exclusion

symmetries   2, S2; found in …
reduction    canonical; …
slice        not read by anything: last
states       5, representing 8 of the slice (1.60× reduction)
transitions  8
depth        3
time         …
memory       …
---- stderr
note: how often rules fire is not known: the search did not finish
---- exit status 1

"#]],
    );
    expect(
        quotient(["check", "--statistics", "--store", "compact", "workers.m"]),
        str![[r#"
---- stderr
error: --statistics cannot be used with an approximate store: how often rules fire would not be exact
---- exit status 2

"#]],
    );
}

#[test]
fn memory_limit() {
    let transcript = quotient(["check", "--max-memory", "200K", "--format", "json", "wide.m"]);
    assert_eq!(transcript.status, Some(4), "{transcript}");
    assert!(transcript.stdout.contains(r#""verdict":"inconclusive","summary""#), "{transcript}");
    assert!(transcript.stdout.contains(r#""stop_reason":"memory-limit""#), "{transcript}");
}

#[test]
fn time_limit() {
    let transcript = quotient(["check", "--timeout", "1ms", "--format", "json", "wide.m"]);
    assert_eq!(transcript.status, Some(4), "{transcript}");
    assert!(transcript.stdout.contains(r#""verdict":"inconclusive","summary""#), "{transcript}");
    assert!(transcript.stdout.contains(r#""stop_reason":"time-limit""#), "{transcript}");
}

#[test]
fn multiset() {
    expect(
        quotient(["check", "bag.m"]),
        str![[r#"
violated: invariant "never full"

 0  Startstate "empty"
      net: empty
      m.tag: ping
      m.hops: 0
 1  Rule "send"
      net: added {tag: ping, hops: 0}
 2  Rule "send"
      net: added {tag: ping, hops: 0}
    invariant "never full" fails here
    bag.m:24:1
    24 | invariant "never full" multisetcount(i: net, true) < 2;

violated   invariant  never full
undecided  no deadlock
undecided  no errors

symmetries   none found (…
states       2
transitions  2
depth        1
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn large_arrays_and_their_arguments() {
    expect(
        quotient(["check", "grid.m"]),
        str![[r#"
violated: deadlock

 0  Startstate "any row", row: [false, false], at: {x: 1}
      cells: all false
      marks[1]: all undefined
      marks[2][1]: undefined
      marks[2][2]: 1
      marks[2][3]: undefined
      marks[2][4]: undefined
      marks[2][5]: undefined
      marks[2][6]: undefined
      marks[2][7]: undefined
      marks[2][8]: undefined
      marks[2][9]: undefined
      marks[3]: all undefined
      first[1]: false
      first[2]: false
 1  Rule "fill"
      cells[3][4]: false → true
    deadlock: no rule can fire here and change the state

If the model is meant to end here, add --deadlock off

violated   no deadlock
undecided  no errors

symmetries   none found (…
slice        not read by anything: marks, first
states       2
transitions  1
depth        1
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn array_arguments_json() {
    let transcript = quotient(["simulate", "--seed", "1", "--steps", "0", "--format", "json", "grid.m"]);
    assert!(transcript.stdout.contains(r#""arguments":{"row[1]":false,"row[2]":true,"at.x":1}"#), "{transcript}");
}

#[test]
fn invalid_model() {
    expect(
        quotient(["check", "invalid.m"]),
        str![[r#"
---- stderr
error[unknown-name]: there is no name `cuont` here
 --> invalid.m:5:3
  |
5 |   cuont := 0;
  |   ^^^^^ not declared
  |
  = help: did you mean `count`?

error[type-mismatch]: the value assigned must be of type `boolean`
 --> invalid.m:6:11
  |
6 |   flag := 7;
  |           ^ this is an integer

error[not-boolean]: the right side of `&` must be boolean
 --> invalid.m:8:13
  |
8 | rule flag & count ==> begin
  |             ^^^^^ this is of type `0..3`

error[unknown-name]: there is no name `missing` here
 --> invalid.m:9:20
  |
9 |   count := count + missing;
  |                    ^^^^^^^ not declared

4 errors
---- exit status 3

"#]],
    );
}

#[test]
fn invalid_model_json() {
    expect(
        quotient(["check", "--format", "json", "invalid.m"]),
        str![[r#"
{"schema":"quotient/1","command":"check","verdict":null,"diagnostics":[{"severity":"error","code":"unknown-name","message":"there is no name `cuont` here","file":"invalid.m","line":5,"column":3,"help":"did you mean `count`?"},{"severity":"error","code":"type-mismatch","message":"the value assigned must be of type `boolean`","file":"invalid.m","line":6,"column":11,"help":null},{"severity":"error","code":"not-boolean","message":"the right side of `&` must be boolean","file":"invalid.m","line":8,"column":13,"help":null},{"severity":"error","code":"unknown-name","message":"there is no name `missing` here","file":"invalid.m","line":9,"column":20,"help":null}]}
---- stderr
error[unknown-name]: there is no name `cuont` here
 --> invalid.m:5:3
  |
5 |   cuont := 0;
  |   ^^^^^ not declared
  |
  = help: did you mean `count`?

error[type-mismatch]: the value assigned must be of type `boolean`
 --> invalid.m:6:11
  |
6 |   flag := 7;
  |           ^ this is an integer

error[not-boolean]: the right side of `&` must be boolean
 --> invalid.m:8:13
  |
8 | rule flag & count ==> begin
  |             ^^^^^ this is of type `0..3`

error[unknown-name]: there is no name `missing` here
 --> invalid.m:9:20
  |
9 |   count := count + missing;
  |                    ^^^^^^^ not declared

4 errors
---- exit status 3

"#]],
    );
}

#[test]
fn model_on_standard_input() {
    let model = std::fs::read(crate::transcript::models().join("counter.m")).expect("the model is there");
    expect(
        quotient_with(["check", "-"], &model, &[]),
        str![[r#"
holds

holds      invariant         in range
holds      cover             reaches the limit
holds      liveness (AG EF)  always comes back
holds      no deadlock
holds      no errors

symmetries   none found (…
states       4
transitions  4
depth        3
time         …
memory       …
---- exit status 0

"#]],
    );
}

#[test]
fn invalid_model_on_standard_input() {
    let transcript = quotient_with(["check", "-", "--language", "murphi"], b"var x: ;", &[]);
    expect(
        transcript,
        str![[r#"
---- stderr
error[syntax]: expected a type, found `;`
 --> <stdin>:1:8
  |
1 | var x: ;
  |        ^ expected a type

1 error
---- exit status 3

"#]],
    );
}

#[test]
fn no_colours_without_a_terminal() {
    for environment in [&[][..], &[("NO_COLOR", "1")], &[("NO_COLOR", "")], &[("TERM", "dumb")]] {
        for model in ["mutex.m", "invalid.m"] {
            let transcript = quotient_with(["check", model], b"", environment);
            assert!(!transcript.stdout.contains('\x1b') && !transcript.stderr.contains('\x1b'), "{transcript}");
        }
    }
}

/// An error outside of the properties asked for is no violation, and the run to it is shown however it was searched.
#[test]
fn the_run_to_an_error_that_nobody_asked_for() {
    expect(
        quotient(["check", "--property", "wanted", "forgotten.m"]),
        str![[r#"
inconclusive: run-time error: read of undefined `value[i]`, that is `value[id_1]`

 0  Startstate "start"
      marked[id_0]: false
      marked[id_1]: false
      value[id_0]: 0
      value[id_1]: 0
 1  Rule "mark", i: id_0
      marked[id_0]: false → true
 2  Rule "forget", i: id_1
      value[id_1]: 0 → undefined
    cover "wanted" with i: id_1 has no value here: read of undefined `value[i]`, that is `value[id_1]`
    forgotten.m:12:3
    12 |   cover "wanted" value[i] = 1;

An error ends the search, and no property that was asked for is about errors.
To have it judged as a violation, add --property errors; to continue past it, --all-errors

undecided  cover      wanted

symmetries   2, S2; found in …
reduction    canonical; …
states       3, representing 5 (1.67× reduction)
transitions  3
depth        2
time         …
memory       …
---- exit status 4

"#]],
    );
    expect(
        quotient(["check", "--property", "wanted", "--format", "json", "forgotten.m"]),
        str![[r#"
{"schema":"quotient/1","command":"check","threads":1,"verdict":"inconclusive","summary":"inconclusive: run-time error: read of undefined `value[i]`, that is `value[id_1]`","stop_reason":"fault","stop_message":"run-time error: read of undefined `value[i]`, that is `value[id_1]`","states":3,"transitions":3,"represented":"5","exact":true,"reduction":"canonical","reduction_factor":1.666667,"symmetry":{"order":"2","structure":"S2","generators":[{"cycles":["(id 0 1)"]}],"graph":{"…"},"seconds":"…","method":"…","complete":true},"properties":[{"name":"wanted","kind":"cover","title":"cover \"wanted\"","verdict":"undecided","trace":null,"violation":null}],"fault":{"trace":[{"rule":"start","arguments":{},"state":{"marked[id_0]":false,"marked[id_1]":false,"value[id_0]":0,"value[id_1]":0}},{"rule":"mark","arguments":{"i":"id_0"},"state":{"marked[id_0]":true,"marked[id_1]":false,"value[id_0]":0,"value[id_1]":0}},{"rule":"forget","arguments":{"i":"id_1"},"state":{"marked[id_0]":true,"marked[id_1]":false,"value[id_0]":0,"value[id_1]":null}}],"violation":{"message":"cover \"wanted\" with i: id_1 has no value here: read of undefined `value[i]`, that is `value[id_1]`","file":"forgotten.m","line":12,"column":3,"rule":{"name":"forget","arguments":{"i":"id_1"},"file":"forgotten.m","line":11,"column":3}}},"depth":2,"states_per_level":[1,1,1],"seconds":"…","canonicalization_seconds":"…","store_bytes":"…","words":1,"peak_memory_bytes":"…","diagnostics":[]}
---- exit status 4

"#]],
    );
    let ways: [&[&str]; 8] = [
        &["--symmetry", "off"],
        &["--reduction", "sorted"],
        &["--reduction", "markers-canonical"],
        &["--reduction", "adaptive"],
        &["--threads", "2"],
        &["--search", "dfs"],
        &["--store", "compact"],
        &["--symmetry", "off", "--store-passing"],
    ];
    for way in ways {
        let said = quotient(["check", "--property", "wanted", "forgotten.m"].iter().chain(way));
        assert_eq!(said.status, Some(4), "{way:?}: {said}");
        for words in ["has no value here: read of undefined `value[i]`", "add --property errors"] {
            assert!(said.stdout.contains(words), "{way:?}: {said}");
        }
        // As it is told to do, it is judged.
        let judged = ["check", "--property", "wanted", "--property", "errors", "forgotten.m"];
        let judged = quotient(judged.iter().chain(way));
        assert_eq!(judged.status, Some(1), "{way:?}: {judged}");
    }
}

/// The member that has no value is another one in the run than in the representative, and the first one is no fault.
#[test]
fn a_property_without_a_value_in_a_quotient() {
    expect(
        quotient(["check", "forgotten.m"]),
        str![[r#"
violated: error: read of undefined `value[i]`, that is `value[id_1]`

 0  Startstate "start"
      marked[id_0]: false
      marked[id_1]: false
      value[id_0]: 0
      value[id_1]: 0
 1  Rule "mark", i: id_0
      marked[id_0]: false → true
 2  Rule "forget", i: id_1
      value[id_1]: 0 → undefined
    cover "wanted" with i: id_1 has no value here: read of undefined `value[i]`, that is `value[id_1]`
    forgotten.m:12:3
    12 |   cover "wanted" value[i] = 1;

undecided  cover      wanted
undecided  invariant  one
undecided  no deadlock
violated   no errors

symmetries   2, S2; found in …
reduction    canonical; …
states       3, representing 5 (1.67× reduction)
transitions  3
depth        2
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn priorities() {
    expect(
        quotient(["check", "priorities.m"]),
        str![[r#"
holds

holds      invariant  one at a time
holds      no deadlock
holds      no errors

symmetries   6, S3; found in …
reduction    canonical; …
states       7, representing 13 (1.86× reduction)
transitions  13
depth        6
time         …
memory       …
---- exit status 0

"#]],
    );
}

#[test]
fn undefined_where_a_value_is_needed() {
    expect(
        quotient(["check", "nothing.m"]),
        str![[r#"
---- stderr
error[undefined-value]: a function cannot return `undefined`
  --> nothing.m:14:10
   |
14 |   return undefined;
   |          ^^^^^^^^^ no value here
   |
   = help: a call in an expression has a value; write to a `var` parameter instead, which can be undefined

error[undefined-value]: `undefined` cannot be passed for the `var` parameter `v`
  --> nothing.m:19:12
   |
12 | function get(var v: value): value;
   |                  - passed by reference
...
19 |   x := get(undefined);
   |            ^^^^^^^^^ this is not a variable
   |
   = help: pass a variable, and undefine it before if it should have no value

error[undefined-value]: `undefined` cannot be used here
  --> nothing.m:20:8
   |
20 |   y := undefined + 1;
   |        ^^^^^^^^^ this means no value
   |
   = help: it can be assigned (`x := undefined`), be an argument (`f(undefined)`), and be compared with a variable (`x = undefined`)

3 errors
---- exit status 3

"#]],
    );
}

/// All slots are part of the state if counts are to be those of the whole model.
#[test]
fn exact_counts() {
    let whole = quotient(["check", "--exact-counts", "mutex.m"]);
    assert!(whole.stdout.contains("states       6, representing 10 (1.67× reduction)\n"), "{whole}");
    assert!(!whole.stdout.contains("slice"), "{whole}");
}

/// What is known without a search is said so, and no figures of a search are shown.
#[test]
fn settled_without_a_search() {
    expect(
        quotient(["check", "requests.pnml", "--properties", "requests.xml", "--property", "two"]),
        str![[r#"
holds

holds      invariant  two

time         …
memory       …
---- stderr
warning[unbounded-place]: `requests` is unbounded: repeat `ask`
 --> requests.pnml:5:7
  |
5 |       <place id="requests"/>
  |       ^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: the number of markings is infinite; searched as far as no place holds more than 255 tokens (`-D tokens=N` for another number)

note: `two` needed no search: decided by the minimal coverability set (Karp and Miller)
---- exit status 0

"#]],
    );
    expect(
        quotient(["check", "requests.pnml", "--properties", "requests.xml", "--all-errors", "--max-depth", "9"]),
        str![[r#"
violated: invariant "one"

 0  Startstate "initial marking"
      requests: 0
      free: 2
      busy: 0
 1  Rule "ask"
      requests: 0 → 1
 2  Rule "ask"
      requests: 1 → 2
 3  Rule "serve"
      requests: 2 → 1
      free: 2 → 1
      busy: 0 → 1
 4  Rule "serve"
      requests: 1 → 0
      free: 1 → 0
      busy: 1 → 2
    invariant "one" fails here
    requests.xml:9:3
    9 |   <property>

holds      invariant  two
violated   invariant  one
undecided  no deadlock
undecided  no errors

symmetries   none found (…
states       24
transitions  47
depth        9
time         …
memory       …
---- stderr
warning[unbounded-place]: `requests` is unbounded: repeat `ask`
 --> requests.pnml:5:7
  |
5 |       <place id="requests"/>
  |       ^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: the number of markings is infinite; searched as far as no place holds more than 255 tokens (`-D tokens=N` for another number)

note: `two` needed no search: decided by the minimal coverability set (Karp and Miller)
---- exit status 1

"#]],
    );
}
