//! Processes go on at once where what they do concerns nobody else: random Promela models have the same deadlocks and errors
//! as with all orders of steps.
//!
//! `QUOTIENT_RANDOM_PRIVATE` sets the number of models, `QUOTIENT_RANDOM_SEED` the first seed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use quotient::{
    Limits, Model, Options, PartialOrder, Plan, Reduction, Report, Strategy, Symmetry, Verdict, ViolationLimit,
};
use quotient_ir::{DeadlockMode, Violation};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::promela_lowering::lowered;
use quotient_testkit::random_murphi::Random;
use quotient_testkit::switches::number_from;

/// Models with more states are left out.
const LARGEST: u64 = 4_000;

/// Statements that concern one process.
const OWN: [&str; 15] = [
    "a = (a + 1) % 3",
    "b = a",
    "a = _pid",
    "skip",
    "a < 2",
    "b != a",
    "printf(\"%d\", a)",
    "if :: a == 0 -> b = 1 :: else -> a = 0 fi",
    "if :: a < 2 -> a++ :: a >= 1 -> skip fi",
    "if :: b = 1 :: b = 0; a = 2 fi",
    "if :: a == 1 -> skip :: b == 1 -> a = 0 fi",
    "do :: a < 2 -> a++ :: else -> break od",
    "do :: b = 1 - b :: break od",
    "for (b : 0 .. 1) { a = b }",
    "{ a = 1; b = 0 }",
];

/// Statements that concern others.
const SHARED: [&str; 24] = [
    "x = a",
    "a = x",
    "x == 1 -> x = 0",
    "y = 1 - y",
    "x < y",
    "c!a",
    "c?b",
    "c?eval(b)",
    "r!a",
    "r?b",
    "r?b; a = b",
    "if :: r!a :: b = 0 fi",
    "if :: r!a -> b = 2 :: else -> y = 1 fi",
    "{ r!a } unless { x == 1 }",
    "{ a = 1; b = 1; c!b } unless { y == 1 }",
    "atomic { a = 1; x = a }",
    "atomic { x == 0; r!1; b = 1; x = 1 }",
    "atomic { r?a; b = a }",
    "atomic { a = 0; b = 2 }",
    "d_step { a = 1; b = a; x = b }",
    "timeout -> x = 0",
    "assert(a < 2)",
    "assert(x != 1 || y == 0)",
    "if :: len(c) == 0 -> a = 0 :: else -> a = 1 fi",
];

/// Statements that can go wrong, and concern one process.
const FALLIBLE: [&str; 3] = ["a = 2 / a", "b = d[a]", "a % b == 0"];

fn pick(random: &mut Random, choices: &[&'static str]) -> &'static str {
    choices[random.below(choices.len())]
}

fn statement(random: &mut Random, can_fail: bool) -> &'static str {
    match random.below(100) {
        0..=5 if can_fail => pick(random, &FALLIBLE),
        0..=54 => pick(random, &OWN),
        _ => pick(random, &SHARED),
    }
}

fn body(random: &mut Random, can_fail: bool, text: &mut String) {
    text.push_str("  byte a, b;\n  byte d[2];\n");
    for _ in 0..random.below(3) {
        let _ = writeln!(text, "  {};", statement(random, can_fail));
    }
    text.push_str(pick(random, &["  do\n", "end: do\n"]));
    for _ in 0..1 + random.below(2) {
        text.push_str("  :: ");
        let count = 1 + random.below(4);
        let statements: Vec<&str> = (0..count).map(|_| statement(random, can_fail)).collect();
        let _ = writeln!(text, "{}", statements.join(";\n     "));
    }
    text.push_str(pick(random, &["", "", "  :: break\n", "  :: a == 1 -> break\n"]));
    text.push_str("  od");
    text.push_str(pick(random, &["\n", ";\n  b = 0\n", ";\n  x = 2\n"]));
}

fn program(seed: u64, can_fail: bool) -> String {
    let mut random = Random::new(seed ^ 0x7072_6976);
    let mut text = String::from("byte x, y;\nchan c = [1] of { byte };\nchan r = [0] of { byte };\n");
    let is_created = random.percent(20);
    let count = 1 + random.below(2);
    match is_created {
        true => text.push_str("proctype node() {\n"),
        false => _ = writeln!(text, "active [{count}] proctype node() {{"),
    }
    body(&mut random, can_fail, &mut text);
    text.push_str("}\nactive proctype other() {\n");
    body(&mut random, can_fail, &mut text);
    text.push_str("}\n");
    if is_created {
        text.push_str(pick(
            &mut random,
            &[
                "init { run node(); run node() }\n",
                "init { byte i; run node(); i = 1; x = i; run node() }\n",
                "init { byte i; do :: i < 2 -> run node(); i++ :: else -> break od }\n",
            ],
        ));
    }
    text
}

fn checked(model: &Model, options: &Options) -> Result<Report, String> {
    let options = Options { deadlock: Some(DeadlockMode::Stuck), ..options.clone() };
    let plan = Plan::new(model, &options).map_err(|error| error.to_string())?;
    plan.run().map_err(|error| error.to_string())
}

/// What goes wrong, and where in the text.
fn wrong(report: &Report) -> BTreeSet<String> {
    let traces = report.properties.iter().flat_map(|property| property.traces());
    let kinds = traces.filter_map(|trace| match trace.violation.as_ref()? {
        Violation::Fault { fault, .. } => Some(format!("{:?} {:?} {}", fault.kind, fault.span, fault.message)),
        Violation::Deadlock(_) => Some("deadlock".to_owned()),
        _ => None,
    });
    kinds.collect()
}

/// Whether private points are used, and make the search smaller.
fn compare(seed: u64) -> Result<[bool; 2], String> {
    let can_fail = seed.is_multiple_of(4);
    let text = program(seed, can_fail);
    let fail = |reason: String| Err(format!("seed {seed}: {reason}\n{text}"));
    let (whole, merged) = (lowered(&text, false)?, lowered(&text, true)?);
    let limits = Limits { max_states: Some(LARGEST), ..Limits::default() };
    let base = Options { limits, ..Options::default() };
    let first = base.clone().symmetry(Symmetry::Off).exact_counts();
    let all = Options { violations: ViolationLimit::All, ..first.clone() };
    let exact = checked(&whole, &first)?;
    if exact.verdict == Verdict::Inconclusive {
        return Ok([false; 2]);
    }
    // Otherwise a small search is over before symmetries are found.
    let mut ways = vec![first.clone(), base.clone().reduction(Reduction::By(Strategy::Canonical))];
    if seed % 8 == 1 {
        // What steps do to each other takes long to find out.
        ways.push(Options { partial_order: PartialOrder::On, ..base.clone().symmetry(Symmetry::Off) });
    }
    let mut is_smaller = false;
    // The variables of a process that stays at its end are part of the state.
    let presentation = merged.ir().presentation.as_ref();
    let stays = presentation.is_some_and(|presentation| presentation.stay_at_end);
    for options in ways {
        let report = checked(&merged, &options)?;
        if report.verdict != exact.verdict {
            return fail(format!("{:?} and not {:?}, {options:?}", report.verdict, exact.verdict));
        }
        if exact.verdict == Verdict::Holds && report.states > exact.states && !stays {
            return fail(format!("{} states and not {}, {options:?}", report.states, exact.states));
        }
        is_smaller |= options == first && report.states < exact.states;
    }
    // An error inside of what is done at once can hide others.
    if !can_fail {
        let (found, expected) = (checked(&merged, &all)?, checked(&whole, &all)?);
        if expected.stop_reason.is_some() {
            return Ok([false; 2]);
        }
        let (found, expected) = (wrong(&found), wrong(&expected));
        if found != expected {
            return fail(format!("{found:?} and not {expected:?}"));
        }
    }
    let is_used = presentation.is_some_and(|presentation| presentation.is_private_first);
    Ok([is_used, is_smaller])
}

#[test]
fn nothing_is_missed_if_processes_go_on_at_once() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_PRIVATE", 100)).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare(seed));
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), results.len(), wrong[0]);
    for (position, least) in [(0, 6), (1, 10)] {
        let count = results.iter().flatten().filter(|used| used[position]).count();
        assert!(count * least > seeds.len(), "only {count} of {} are about this", seeds.len());
    }
}

/// The states with all orders of steps, and with private points; the verdicts are as expected.
fn states(text: &str, verdict: Verdict) -> [u64; 2] {
    [false, true].map(|merges_orders| {
        let model = lowered(text, merges_orders).expect("a model");
        let options = Options::default().symmetry(Symmetry::Off).exact_counts();
        let report = checked(&model, &options).expect("a search");
        assert_eq!(report.verdict, verdict, "{text}");
        report.states
    })
}

#[test]
fn states_in_between_are_not_stored() {
    let text =
        "byte n; active [2] proctype P() { byte i; n++; i = 1; i = i + 1; if :: i == 2 -> i = 0 :: else fi; n-- }";
    let [all, merged] = states(text, Verdict::Holds);
    assert!(merged * 3 < all, "{merged} of {all}");
}

/// What a process does for itself is not done forever while another one waits.
#[test]
fn a_private_loop_does_not_put_off_others() {
    let text = "byte x; active proctype P() { byte i; x = 1; do :: i = 1 - i od } \
                active proctype Q() { x == 1; assert(false) }";
    states(text, Verdict::Violated);
}

/// Others see whether a process waits for a message: by `else`, by an escape, and by where an atomic sequence blocks.
#[test]
fn a_way_to_a_receive_is_seen() {
    let receiver = "active proctype Q() { byte i; x = 1; i = 1; i = 2; end: do :: r?i od }";
    let senders = [
        "x == 1; if :: r!1 :: else -> assert(false) fi",
        "x == 1; { y == 1 } unless { r!1 }; skip",
        "x == 1; atomic { y = 1; r!1; y = 0 }",
    ];
    let watcher = "active proctype W() { end: y == 1; assert(false) }";
    for sender in senders {
        let text = format!(
            "byte x, y; chan r = [0] of {{ byte }};\n{receiver}\nactive proctype P() {{ {sender} }}\n{watcher}"
        );
        let [all, merged] = [false, true].map(|merges| {
            let model = lowered(&text, merges).expect("a model");
            let options = Options { violations: ViolationLimit::All, ..Options::default().exact_counts() };
            wrong(&checked(&model, &options).expect("a search"))
        });
        assert_eq!(all, merged, "{text}");
    }
}
