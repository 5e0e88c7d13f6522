//! `quotient check` where a transcript does not suffice: limits, standard input, other folders, several runs.

use crate::transcript::{expect, quotient, quotient_with};
use snapbox::str;

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
fn array_arguments_json() {
    let transcript = quotient(["simulate", "--seed", "1", "--steps", "0", "--format", "json", "grid.m"]);
    assert!(transcript.stdout.contains(r#""arguments":{"row[1]":false,"row[2]":true,"at.x":1}"#), "{transcript}");
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

/// All slots are part of the state if counts are to be those of the whole model.
#[test]
fn exact_counts() {
    let whole = quotient(["check", "--exact-counts", "mutex.m"]);
    assert!(whole.stdout.contains("states       6, representing 10 (1.67× reduction)\n"), "{whole}");
    assert!(!whole.stdout.contains("slice"), "{whole}");
}
