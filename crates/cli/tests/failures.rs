//! Transcripts about violations: all of them at once, why a run fails, runs to covers, constraints, and random runs that
//! are checked.

mod transcript;

use snapbox::str;
use transcript::{Transcript, expect, quotient, quotient_with};

#[test]
fn all_errors() {
    expect(quotient(["check", "--all-errors", "several.m"]), str![[r#""#]]);
}

#[test]
fn all_errors_json() {
    expect(quotient(["check", "--all-errors", "--format", "json", "several.m"]), str![[r#""#]]);
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
    expect(quotient(["check", "--max-errors", "0", "several.m"]), str![[r#""#]]);
    expect(quotient(["check", "--all-errors", "--store", "compact", "several.m"]), str![[r#""#]]);
    expect(quotient(["check", "--all-errors", "--reduction", "adaptive", "several.m"]), str![[r#""#]]);
}

#[test]
fn runs_to_covers() {
    expect(quotient(["check", "--cover-runs", "--property", "level two", "several.m"]), str![[r#""#]]);
}

#[test]
fn a_constraint_leaves_the_verdict_open() {
    let text = "forall p: process do at[p] = 0 end";
    expect(quotient(["check", "--constraint", text, "--property", "quiet", "several.m"]), str![[r#""#]]);
}

#[test]
fn a_constraint_that_every_state_satisfies_changes_nothing() {
    let said = quotient(["check", "--constraint", "true", "--property", "in range", "counter.m"]);
    assert_eq!(said.status, Some(0), "{said}");
}

#[test]
fn a_constraint_that_is_wrong_is_located() {
    expect(quotient(["check", "--constraint", "at[p] <", "several.m"]), str![[r#""#]]);
    expect(quotient(["check", "--constraint", "nothing = 1", "several.m"]), str![[r#""#]]);
    expect(quotient(["check", "--constraint", "true; rule true ==> end", "several.m"]), str![[r#""#]]);
    expect(quotient(["check", "--constraint", "true", "counter.m"]), str![[r#""#]]);
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
    expect(check("y < 5"), str![[r#""#]]);
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
    expect(quotient(["simulate", "--check", "--runs", "50", "--seed", "3", "several.m"]), str![[r#""#]]);
    expect(quotient(["simulate", "--check", "--runs", "5", "--seed", "3", "counter.m"]), str![[r#""#]]);
    let json = quotient(["simulate", "--check", "--runs", "5", "--seed", "3", "--format", "json", "counter.m"]);
    expect(json, str![[r#""#]]);
}
