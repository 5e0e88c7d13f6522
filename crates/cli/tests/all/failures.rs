//! Transcripts about violations: all of them at once, why a run fails, runs to covers, constraints, and random runs that
//! are checked.

use crate::transcript::{Transcript, expect, quotient, quotient_with};
use snapbox::str;

#[test]
fn all_errors() {
    expect(
        quotient(["check", "--all-errors", "several.m"]),
        str![[r#"
violated: invariant "one above", invariant "low", error: assertion failed: too high, error: read of undefined `note[p]`, that is `note[process_1]`

invariant "one above"
 0  Startstate "low"
      at[process_0]: 0
      at[process_1]: 0
      at[process_2]: 0
      note[process_0]: undefined
      note[process_1]: undefined
      note[process_2]: undefined
      alarm: false
 1  Rule "step", p: process_0
      at[process_0]: 0 → 1
 2  Rule "step", p: process_1
      at[process_1]: 0 → 1
 3  Rule "step", p: process_0
      at[process_0]: 1 → 2
 4  Rule "step", p: process_1
      at[process_1]: 1 → 2
    invariant "one above" fails here
    several.m:28:1
    28 | invariant "one above" forall p: process do forall q: process do p != q & at[p] = 2 -> at[q] < 2 end end;
    false for p = process_0, q = process_1: at[q] < 2 (several.m:28:87)
      while p != q & at[p] = 2
      here at[process_1] = 2

invariant "low"
 0  Startstate "low"
      at[process_0]: 0
      at[process_1]: 0
      at[process_2]: 0
      note[process_0]: undefined
      note[process_1]: undefined
      note[process_2]: undefined
      alarm: false
 1  Rule "step", p: process_0
      at[process_0]: 0 → 1
 2  Rule "step", p: process_1
      at[process_1]: 0 → 1
 3  Rule "step", p: process_2
      at[process_2]: 0 → 1
    invariant "low" fails here
    several.m:29:1
    29 | invariant "low" exists p: process do at[p] = 0 end;

error: assertion failed: too high
 0  Startstate "low"
      at[process_0]: 0
      at[process_1]: 0
      at[process_2]: 0
      note[process_0]: undefined
      note[process_1]: undefined
      note[process_2]: undefined
      alarm: false
 1  Rule "step", p: process_0
      at[process_0]: 0 → 1
 2  Rule "step", p: process_0
      at[process_0]: 1 → 2
    Rule "step", p: process_0 fails here: assertion failed: too high
    several.m:13:3
    13 |   assert l + amount <= 2 "too high";
    in raise(l: at[process_0], amount: 1) (called from several.m:24:35)
    false: l + amount <= 2 (several.m:13:10)
      here at[process_0] = 2

error: read of undefined `note[p]`, that is `note[process_1]`
 0  Startstate "low"
      at[process_0]: 0
      at[process_1]: 0
      at[process_2]: 0
      note[process_0]: undefined
      note[process_1]: undefined
      note[process_2]: undefined
      alarm: false
 1  Rule "step", p: process_0
      at[process_0]: 0 → 1
 2  Rule "step", p: process_1
      at[process_1]: 0 → 1
 3  Rule "step", p: process_0
      at[process_0]: 1 → 2
    Rule "look", p: process_1 fails here: read of undefined `note[p]`, that is `note[process_1]`
    several.m:25:72
    25 |   rule "look" at[p] = 1 & exists q: process do at[q] = 2 end ==> begin alarm := note[p]; end;

violated   invariant  one above
violated   invariant  low
holds      invariant  quiet
holds      cover      level two
holds      no deadlock
violated   no errors

symmetries   6, S3; found in …
reduction    canonical; …
states       10, representing 27 (2.70× reduction)
transitions  20
depth        6
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn all_errors_json() {
    expect(
        quotient(["check", "--all-errors", "--format", "json", "several.m"]),
        str![[r#"
{"schema":"quotient/1","command":"check","threads":1,"verdict":"violated","summary":"violated: invariant \"one above\", invariant \"low\", error: assertion failed: too high, error: read of undefined `note[p]`, that is `note[process_1]`","stop_reason":null,"stop_message":null,"states":10,"transitions":20,"represented":"27","exact":true,"reduction":"canonical","reduction_factor":2.7,"symmetry":{"order":"6","structure":"S3","generators":[{"cycles":["(process 0 1)"]},{"cycles":["(process 1 2)"]}],"graph":{"…"},"seconds":"…","method":"…","complete":true},"properties":[{"name":"one above","kind":"invariant","title":"invariant \"one above\"","verdict":"violated","trace":[{"rule":"low","arguments":{},"state":{"at[process_0]":0,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":1,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_1"},"state":{"at[process_0]":1,"at[process_1]":1,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":2,"at[process_1]":1,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_1"},"state":{"at[process_0]":2,"at[process_1]":2,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}}],"violation":{"message":"invariant \"one above\" fails here","file":"several.m","line":28,"column":1,"context":{"bindings":{"p":"process_0","q":"process_1"},"part":{"text":"at[q] < 2","value":false,"file":"several.m","line":28,"column":87,"given":["p != q & at[p] = 2"],"values":{"at[process_1]":"2"}}},"rule":{"name":"step","arguments":{"p":"process_1"},"file":"several.m","line":24,"column":3}}},{"name":"low","kind":"invariant","title":"invariant \"low\"","verdict":"violated","trace":[{"rule":"low","arguments":{},"state":{"at[process_0]":0,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":1,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_1"},"state":{"at[process_0]":1,"at[process_1]":1,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_2"},"state":{"at[process_0]":1,"at[process_1]":1,"at[process_2]":1,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}}],"violation":{"message":"invariant \"low\" fails here","file":"several.m","line":29,"column":1,"rule":{"name":"step","arguments":{"p":"process_2"},"file":"several.m","line":24,"column":3}}},{"name":"quiet","kind":"invariant","title":"invariant \"quiet\"","verdict":"holds","trace":null,"violation":null},{"name":"level two","kind":"cover","title":"cover \"level two\"","verdict":"holds","trace":null,"violation":null},{"name":"deadlock","kind":"deadlock","title":"no deadlock","verdict":"holds","trace":null,"violation":null},{"name":"errors","kind":"errors","title":"no errors","verdict":"violated","trace":[{"rule":"low","arguments":{},"state":{"at[process_0]":0,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":1,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":2,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}}],"violation":{"message":"Rule \"step\", p: process_0 fails here: assertion failed: too high","file":"several.m","line":13,"column":3,"context":{"calls":[{"function":"raise","arguments":{"l":"at[process_0]","amount":"1"},"file":"several.m","line":24,"column":35}],"part":{"text":"l + amount <= 2","value":false,"file":"several.m","line":13,"column":10,"given":[],"values":{"at[process_0]":"2"}}},"rule":{"name":"step","arguments":{"p":"process_0"},"file":"several.m","line":24,"column":3}}}],"violations":[{"property":"one above","kind":"invariant","trace":[{"rule":"low","arguments":{},"state":{"at[process_0]":0,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":1,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_1"},"state":{"at[process_0]":1,"at[process_1]":1,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":2,"at[process_1]":1,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_1"},"state":{"at[process_0]":2,"at[process_1]":2,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}}],"violation":{"message":"invariant \"one above\" fails here","file":"several.m","line":28,"column":1,"context":{"bindings":{"p":"process_0","q":"process_1"},"part":{"text":"at[q] < 2","value":false,"file":"several.m","line":28,"column":87,"given":["p != q & at[p] = 2"],"values":{"at[process_1]":"2"}}},"rule":{"name":"step","arguments":{"p":"process_1"},"file":"several.m","line":24,"column":3}}},{"property":"low","kind":"invariant","trace":[{"rule":"low","arguments":{},"state":{"at[process_0]":0,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":1,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_1"},"state":{"at[process_0]":1,"at[process_1]":1,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_2"},"state":{"at[process_0]":1,"at[process_1]":1,"at[process_2]":1,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}}],"violation":{"message":"invariant \"low\" fails here","file":"several.m","line":29,"column":1,"rule":{"name":"step","arguments":{"p":"process_2"},"file":"several.m","line":24,"column":3}}},{"property":"errors","kind":"errors","trace":[{"rule":"low","arguments":{},"state":{"at[process_0]":0,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":1,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":2,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}}],"violation":{"message":"Rule \"step\", p: process_0 fails here: assertion failed: too high","file":"several.m","line":13,"column":3,"context":{"calls":[{"function":"raise","arguments":{"l":"at[process_0]","amount":"1"},"file":"several.m","line":24,"column":35}],"part":{"text":"l + amount <= 2","value":false,"file":"several.m","line":13,"column":10,"given":[],"values":{"at[process_0]":"2"}}},"rule":{"name":"step","arguments":{"p":"process_0"},"file":"several.m","line":24,"column":3}}},{"property":"errors","kind":"errors","trace":[{"rule":"low","arguments":{},"state":{"at[process_0]":0,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":1,"at[process_1]":0,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_1"},"state":{"at[process_0]":1,"at[process_1]":1,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}},{"rule":"step","arguments":{"p":"process_0"},"state":{"at[process_0]":2,"at[process_1]":1,"at[process_2]":0,"note[process_0]":null,"note[process_1]":null,"note[process_2]":null,"alarm":false}}],"violation":{"message":"Rule \"look\", p: process_1 fails here: read of undefined `note[p]`, that is `note[process_1]`","file":"several.m","line":25,"column":72,"rule":{"name":"look","arguments":{"p":"process_1"},"file":"several.m","line":25,"column":3}}}],"depth":6,"states_per_level":[1,1,2,2,2,1,1],"never_fired":[{"rule":"look","line":25}],"seconds":"…","canonicalization_seconds":"…","store_bytes":"…","words":1,"peak_memory_bytes":"…","diagnostics":[]}
---- exit status 1

"#]],
    );
}

/// What is violated in JSON, with the lengths of the runs.
fn violations(said: &Transcript) -> Vec<(String, usize, String)> {
    let object: serde_json::Value = serde_json::from_str(&said.stdout).expect("an object");
    let list = object["violations"].as_array().expect("a list");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let message = |value: &serde_json::Value| text(&value["violation"]["message"]);
    let of = |it: &serde_json::Value| (text(&it["property"]), it["trace"].as_array().map_or(0, Vec::len), message(it));
    let mut all: Vec<_> = list.iter().map(of).collect();
    // The arguments of the last step depend on the order of the search.
    all.iter_mut().for_each(|(_, _, message)| *message = message.rsplit(": ").next().unwrap_or_default().to_owned());
    all
}

#[test]
fn all_errors_are_the_same_in_every_search() {
    let base = ["check", "--all-errors", "--format", "json", "several.m"];
    let expected = violations(&quotient(base));
    assert_eq!(expected.len(), 4);
    for more in [&["--symmetry", "off"][..], &["--threads", "2"], &["--cross-check"], &["--reduction", "sorted"]] {
        let said = quotient(base.iter().chain(more));
        let names = |list: Vec<(String, usize, String)>| -> Vec<(String, usize)> {
            list.into_iter().map(|(name, length, _)| (name, length)).collect()
        };
        assert_eq!(names(violations(&said)), names(expected.clone()), "{more:?}");
        assert_eq!(said.status, Some(1));
    }
}

#[test]
fn some_errors() {
    let said = quotient(["check", "--max-errors", "2", "--format", "json", "several.m"]);
    assert_eq!((violations(&said).len(), said.status), (2, Some(1)));
    assert!(said.stdout.contains(r#""stop_reason":"violation""#));
    expect(
        quotient(["check", "--max-errors", "0", "several.m"]),
        str![[r#"
---- stderr
error: invalid value '0' for '--max-errors <N>': 0 is not in 1..18446744073709551615

For more information, try '--help'.
---- exit status 2

"#]],
    );
    expect(
        quotient(["check", "--all-errors", "--store", "compact", "several.m"]),
        str![[r#"
---- stderr
error: --all-errors and --max-errors cannot be used with an approximate store
---- exit status 2

"#]],
    );
    expect(
        quotient(["check", "--all-errors", "--reduction", "adaptive", "several.m"]),
        str![[r#"
---- stderr
error: --all-errors and --max-errors cannot be used with adaptive reduction
---- exit status 2

"#]],
    );
}

#[test]
fn runs_to_covers() {
    expect(
        quotient(["check", "--cover-runs", "--property", "level two", "several.m"]),
        str![[r#"
holds

 0  Startstate "low"
      at[process_0]: 0
      at[process_1]: 0
      at[process_2]: 0
      note[process_0]: undefined
      note[process_1]: undefined
      note[process_2]: undefined
      alarm: false
 1  Rule "step", p: process_0
      at[process_0]: 0 → 1
 2  Rule "step", p: process_0
      at[process_0]: 1 → 2
    Rule "step", p: process_0 fails here: assertion failed: too high
    several.m:13:3
    13 |   assert l + amount <= 2 "too high";
    in raise(l: at[process_0], amount: 1) (called from several.m:24:35)
    false: l + amount <= 2 (several.m:13:10)
      here at[process_0] = 2

An error ends the search, and no property that was asked for is about errors.
To have it judged as a violation, add --property errors; to continue past it, --all-errors

cover "level two" is reached
 0  Startstate "low"
      at[process_0]: 0
      at[process_1]: 0
      at[process_2]: 0
      note[process_0]: undefined
      note[process_1]: undefined
      note[process_2]: undefined
      alarm: false
 1  Rule "step", p: process_0
      at[process_0]: 0 → 1
 2  Rule "step", p: process_0
      at[process_0]: 1 → 2

holds      cover      level two

symmetries   6, S3; found in …
reduction    canonical; …
slice        not read by anything: alarm
             only read for being defined: note
states       6, representing 17 of the slice (2.83× reduction)
transitions  11
depth        3
time         …
memory       …
---- exit status 0

"#]],
    );
}

#[test]
fn a_constraint_leaves_the_verdict_open() {
    let text = "forall p: process do at[p] = 0 end";
    expect(
        quotient(["check", "--constraint", text, "--property", "quiet", "several.m"]),
        str![[r#"
inconclusive: nothing is violated within the constraint; 1 state was not expanded

undecided  invariant  quiet

symmetries   6, S3; found in …
reduction    canonical; …
states       2, representing 4 (2.00× reduction)
transitions  3
depth        1
time         …
memory       …
---- exit status 4

"#]],
    );
}

#[test]
fn a_constraint_that_every_state_satisfies_changes_nothing() {
    let said = quotient(["check", "--constraint", "true", "--property", "in range", "counter.m"]);
    assert_eq!(said.status, Some(0), "{said}");
}

#[test]
fn a_constraint_that_is_wrong_is_located() {
    expect(
        quotient(["check", "--constraint", "at[p] <", "several.m"]),
        str![[r#"
---- stderr
error[syntax]: expected an expression, found `)`
 --> --constraint:2:1
  |
2 | );
  | ^ expected an expression

1 error
---- exit status 3

"#]],
    );
    expect(
        quotient(["check", "--constraint", "nothing = 1", "several.m"]),
        str![[r#"
---- stderr
error[unknown-name]: there is no name `nothing` here
 --> --constraint:1:1
  |
1 | nothing = 1
  | ^^^^^^^ not declared

1 error
---- exit status 3

"#]],
    );
    expect(
        quotient(["check", "--constraint", "true; rule true ==> end", "several.m"]),
        str![[r#"
---- stderr
error[constraint]: a constraint is a single expression
 --> --constraint:1:5
  |
1 | true; rule true ==> end
  |     ^
  |
  = help: a constraint is one condition on the state, such as `x < 3`

1 error
---- exit status 3

"#]],
    );
    expect(
        quotient(["check", "--constraint", "true", "counter.m"]),
        str![[r#"
---- stderr
error: --constraint cannot be used with liveness property `always comes back`: what can be reached is not known; name others with --property
---- exit status 2

"#]],
    );
}

/// A constraint that distinguishes members breaks the symmetry between them, and the states are those of the unreduced
/// search.
#[test]
fn an_asymmetric_constraint_breaks_the_symmetry() {
    let model = "
        type id: 1..3;
        var x: array[id] of 0..3;
        startstate for i: id do x[i] := 0 end; end;
        ruleset i: id do rule x[i] < 3 ==> x[i] := x[i] + 1 end; end;
        invariant \"first\" x[1] < 3 | x[2] < 3 | x[3] < 3;";
    for (constraint, order) in [("x[1] < 2", "2"), ("forall i: id do x[i] < 2 end", "6")] {
        let mut found = Vec::new();
        for more in [&[][..], &["--symmetry", "off"], &["--threads", "2"], &["--cross-check"]] {
            let base = ["check", "--format", "json", "--constraint", constraint, "--property", "first", "-"];
            let said = quotient_with(base.iter().chain(more), model.as_bytes(), &[]);
            assert_eq!(said.status, Some(4), "{said}");
            let object: serde_json::Value = serde_json::from_str(&said.stdout).expect("an object");
            assert_eq!(object["stop_reason"], "constraint");
            let is_off = more.contains(&"off");
            assert_eq!(object["symmetry"]["order"], if is_off { "1" } else { order });
            found.push(object["represented"].clone());
        }
        assert!(found.iter().all(|represented| *represented == found[0]), "{constraint}: {found:?}");
    }
}

#[test]
fn a_constraint_of_a_promela_model() {
    let model = "byte x; active proctype p() { do :: x < 9 -> x++ :: x == 9 -> break od; assert(x < 9) }";
    let check = |constraint: &str| {
        quotient_with(["check", "--language", "promela", "--constraint", constraint, "-"], model.as_bytes(), &[])
    };
    assert_eq!(check("x < 5").status, Some(4));
    assert_eq!(check("x < 10").status, Some(1));
    expect(
        check("y < 5"),
        str![[r#"
---- stderr
error[unknown-name]: there is no variable `y`
 --> --constraint:1:1
  |
1 | y < 5
  | ^
  |
  = help: did you mean `x`?

1 error
---- exit status 3

"#]],
    );
}

#[test]
fn a_constraint_of_a_b_machine() {
    let model = "
MACHINE Counter
VARIABLES x
INVARIANT x : 0..9 & x < 9
INITIALISATION x := 0
OPERATIONS inc = PRE x < 9 THEN x := x + 1 END
END
";
    let check = |constraint: &str| {
        let arguments = ["check", "--language", "b", "--deadlock", "off", "--constraint", constraint, "-"];
        quotient_with(arguments, model.as_bytes(), &[])
    };
    assert_eq!(check("x < 5").status, Some(4), "{}", check("x < 5"));
    assert_eq!(check("x < 10").status, Some(1), "{}", check("x < 10"));
    assert_eq!(check("x < ").status, Some(3));
}

#[test]
fn random_runs_are_checked() {
    expect(
        quotient(["simulate", "--check", "--runs", "50", "--seed", "3", "several.m"]),
        str![[r#"
violated: invariant "one above", in run 1 of 50 (seed 3)

 0  Startstate "low"
      at[process_0]: 0
      at[process_1]: 0
      at[process_2]: 0
      note[process_0]: undefined
      note[process_1]: undefined
      note[process_2]: undefined
      alarm: false
 1  Rule "step", p: process_0
      at[process_0]: 0 → 1
 2  Rule "step", p: process_0
      at[process_0]: 1 → 2
 3  Rule "step", p: process_2
      at[process_2]: 0 → 1
 4  Rule "step", p: process_2
      at[process_2]: 1 → 2
    invariant "one above" fails here
    several.m:28:1
    28 | invariant "one above" forall p: process do forall q: process do p != q & at[p] = 2 -> at[q] < 2 end end;
    false for p = process_0, q = process_2: at[q] < 2 (several.m:28:87)
      while p != q & at[p] = 2
      here at[process_2] = 2

runs         1, 4 steps
---- exit status 1

"#]],
    );
    expect(
        quotient(["simulate", "--check", "--runs", "5", "--seed", "3", "counter.m"]),
        str![[r#"
inconclusive: nothing is violated in 5 runs of up to 100 steps (seed 3)

runs         5, 500 steps
not judged   liveness "always comes back"
---- exit status 4

"#]],
    );
    let json = quotient(["simulate", "--check", "--runs", "5", "--seed", "3", "--format", "json", "counter.m"]);
    expect(
        json,
        str![[r#"
{"schema":"quotient/1","command":"simulate","verdict":"inconclusive","stop_reason":"run-limit","seed":3,"runs":5,"steps":500,"violating_seed":null,"trace":null,"violation":null,"covered":["reaches the limit"],"diagnostics":[]}
---- exit status 4

"#]],
    );
}
