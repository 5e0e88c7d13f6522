//! The properties that formulas, claims and labels become.

use quotient_ir::{Model, Source};
use quotient_kit::{LabelChecks, LoadOptions};
use quotient_language_testkit::claims::claims;
use quotient_promela::LANGUAGE;

fn model(text: &str, options: &LoadOptions) -> Model {
    match LANGUAGE.load(Source::new("model", text), options) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{text}\n{diagnostics:#?}"),
    }
}

#[track_caller]
fn promela(text: &str, expected: &[&str]) {
    let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
    assert_eq!(claims(&model(text, &options)), expected, "{text}");
}

const PROCESSES: &str = "byte x; bool b, G; active [2] proctype P() { start: do :: x = 1; crit: x = 2 od }\n";

#[test]
fn formulas_of_promela() {
    let mut text = String::new();
    for formula in [
        "ltl { <> (x == 1) }",
        "ltl f { [] (x == 1) }",
        "ltl f { [] (b -> <> (x == 1 && !b)) }",
        // As SPIN: one operand binds most tightly, chains lean to the left.
        "ltl f { [] b U (x == 1) }",
        "ltl f { b U b U (x > 0) }",
        "ltl f { <> b -> [] b -> <> b }",
        "ltl f { b V (x == 1) }",
        "ltl f { always eventually b }",
        "ltl f { eventually b implies (b weakuntil x == 3) }",
        "ltl f { X X b }",
        // Names of the model are names, also in formulas; others are operators.
        "ltl f { <> G }",
        "ltl f { F b }",
        "ltl f { <> (x == 1) && once b }",
        "ltl f { <> P[0]@crit }",
        "ltl f { <> (P[1]@crit && x == 2) }",
        "ltl f { forall p : P : [] <> P[p]@crit }",
        "ltl f { exists p : P : [] <> P[p]@crit }",
        "ltl f { [] <> (exists p : P : P[p]@crit) }",
        "ltl f { forall i : 0 .. 1 : [] (x != i) }",
        "ltl f { forall i : 1 .. 0 : <> (x == i) }",
        "ctl { AG EF b }",
        "ctl f { A[b U E[b U x == 1]] }",
        "ctl f { AG b }",
        "ctl f { !E<> b }",
    ] {
        let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
        let found = claims(&model(&format!("{PROCESSES}{formula}"), &options));
        text.push_str(&format!("{formula}\n  {}\n", found.join("\n  ")));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn several_formulas_have_the_names_that_spin_gives_them() {
    let text = format!("{PROCESSES}ltl {{ <> b }}\nltl named {{ <> (x == 1) }}\nltl {{ [] b }}\nctl {{ EF b }}");
    promela(&text, &["ltl_0: F {b}", "named: F {x == 1}", "ltl_1: Invariant", "ctl_0: ctl E F {b}"]);
}

#[test]
fn formulas_with_macros() {
    let text = format!("#define p (x == 1)\n#define q b\n{PROCESSES}ltl f {{ [] (p -> <> q) }}");
    promela(&text, &["f: G (F {b} | !{x == 1})"]);
}

#[test]
fn claims_with_acceptance_are_automata() {
    // State 0 is the end of the claim.
    promela(
        &format!("{PROCESSES}never {{ T0: do :: x == 1 -> goto accept1 :: true od; accept1: do :: !b od }}"),
        &["never: [\"x == 1\", \"!b\"] from [1], 0>0 !, 1>1, 1>2 0, 2>2 1 !"],
    );
}

#[test]
fn claims_that_end_are_part_of_the_state() {
    promela(&format!("{PROCESSES}never {{ do :: x == 1 -> break :: true od }}"), &["never: Invariant"]);
}

#[test]
fn labels_of_processes_count_in_claims() {
    let text = "byte x; active proctype P() { do :: accept: x = 1 - x od }\n";
    let labelled = "byte x; active proctype P() { accept: x = 1 - x; x = 1 - x; goto accept }\n";
    // A label that nobody waits at is no condition.
    promela(text, &["acceptance: true"]);
    promela(labelled, &["acceptance: F G !{a process is at a label accept}"]);
    let text = format!("{labelled}never {{ do :: x == 1 od }}");
    promela(&text, &["never: [\"x == 1\", \"a process is at a label accept\"] from [1], 0>0 !, 1>1 0 -1, 1>1 0 1 !"]);
}

#[test]
fn labels_are_checked_on_request() {
    let text = "byte x; active proctype P() { progress: x = 1 - x; goto progress }\n";
    promela(text, &[]);
    let labels = LabelChecks { acceptance: Some(true), progress: true };
    let options = LoadOptions { labels, ..LoadOptions::default() };
    let found = claims(&model(text, &options));
    assert_eq!(found, ["acceptance: true", "progress: G F !{np_}"]);
}

#[test]
fn the_last_process_is_a_variable_only_if_a_formula_mentions_it() {
    let has_last = |formula: &str| {
        let model = model(&format!("{PROCESSES}{formula}"), &LoadOptions::default());
        model.variables.iter().any(|variable| variable.name == "_last")
    };
    assert!(!has_last("ltl f { <> b }"));
    assert!(has_last("ltl f { [] <> (_last == 1) }"));
    assert!(has_last("ltl f { [] (_last == 1) }"));
}
