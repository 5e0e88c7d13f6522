//! Violations where a transcript does not suffice: errors in every search, constraints, random runs that are checked.

use crate::transcript::{Transcript, expect, quotient, quotient_with};
use snapbox::str;

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
