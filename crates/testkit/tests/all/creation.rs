//! Processes that are created before any of them moves, and stay at their ends: random Promela models have the same verdicts
//! as with all orders of creation, and processes that are removed, the youngest first.
//!
//! `QUOTIENT_RANDOM_CREATION` sets the number of models, `QUOTIENT_RANDOM_SEED` the first seed.

use std::fmt::Write as _;

use quotient::{Options, Plan, Reduction, Report, Strategy, Symmetry};
use quotient_ir::DeadlockMode;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::promela_lowering::lowered;
use quotient_testkit::random_murphi::Random;
use quotient_testkit::switches::number_from;

/// A statement of a node, which does not end.
fn statement(random: &mut Random) -> &'static str {
    const STATEMENTS: [&str; 16] = [
        "x = (x + 1) % 4",
        "x == 2 -> x = 0",
        "c[me]!1",
        "c[me]?seen",
        "c[(me + 1) % 3]!me",
        "atomic { y == 0 -> y = 1; x = 1 }",
        "y == 1 -> y = 0",
        "assert(x < 3)",
        "assert(x != 1)",
        "assert(y == 0)",
        "assert(seen != 2)",
        "r!me",
        "r?seen",
        "seen = _pid",
        "timeout -> x = 0",
        "if :: x > y -> y = 1 - y :: else -> seen = 1 fi",
    ];
    STATEMENTS[random.below(STATEMENTS.len())]
}

/// A model whose `init` creates processes, in one of several ways.
fn program(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x6372_6561);
    let mut text = String::from("byte x, y;\nchan c[3] = [1] of { byte };\nchan r = [0] of { byte };\n");
    text.push_str("proctype node(byte me) {\n  byte seen;\n  do\n");
    for _ in 0..1 + random.below(3) {
        let (first, second) = (statement(&mut random), statement(&mut random));
        let _ = writeln!(text, "  :: {first}; {second}");
    }
    // If a node can end, nothing may go first.
    text.push_str(if random.percent(30) { "  :: break\n  od\n}\n" } else { "  od\n}\n" });
    if random.percent(30) {
        let other = random.pick(&[
            "x == 1 -> y = 1 :: y = 0",
            "atomic { x = 1; x = 2; y = 1 }",
            "atomic { x = 1; y == 0 -> x = 0 } :: y = 1 - y",
            "atomic { c[0]!1; x = 1; c[0]?_ }",
        ]);
        // What it does first shows whether it begins again.
        let before = random.pick(&["", "y++; assert(y < 3);", "x = 1; y = 1;", "c[1]!1; y++;"]);
        let _ = writeln!(text, "active proctype other() {{ {before} do :: {other} od }}");
    }
    text.push_str("init {\n  byte i = 0;\n");
    let between = random.pick(&[
        "",
        "",
        "",
        "x = i;",
        "x = 1;",
        "y = 1;",
        "printf(\"%d\", i);",
        "assert(y < 2);",
        "(x < 2);",
        "_nr_pr > 0;",
    ]);
    let count = 2 + random.below(2);
    match random.below(6) {
        0 => _ = writeln!(text, "  do :: i < {count} -> run node(i); {between} i++ :: else -> break od;"),
        1 => _ = writeln!(text, "  for (i : 0 .. {}) {{ run node(i); {between} skip }};", count - 1),
        2 => _ = writeln!(text, "  run node(0); {between} run node(1); run node(i + 2);"),
        3 => _ = writeln!(text, "  run node(0); atomic {{ i = 1; {between} run node(i) }}; run node(2);"),
        4 => _ = writeln!(text, "  run node(0); atomic {{ run node(1); {between} x = 1 }}; run node(2);"),
        _ => _ = writeln!(text, "  atomic {{ run node(0); {between} run node(1) }};"),
    }
    let after = random.pick(&["skip", "i = 7", "c[0]!2", "x = 1", "end: false"]);
    let _ = writeln!(text, "  {after}\n}}");
    text
}

fn report(text: &str, merges_orders: bool, symmetry: Symmetry) -> Result<(Report, bool), String> {
    let model = lowered(text, merges_orders)?;
    let is_first = (model.ir().presentation.as_ref())
        .is_some_and(|presentation| presentation.is_creation_first || presentation.stay_at_end);
    let deadlock = Some(DeadlockMode::Stuck);
    let mut options = Options { deadlock, ..Options::default() }.symmetry(symmetry);
    if symmetry == Symmetry::Auto {
        // Otherwise a small search is over before they are found.
        options = options.reduction(Reduction::By(Strategy::Canonical));
    }
    let plan = Plan::new(&model, &options).map_err(|error| error.to_string())?;
    Ok((plan.run().map_err(|error| error.to_string())?, is_first))
}

/// Whether something fails first is the same in both; what fails first may depend on the order of steps.
fn compare(seed: u64) -> Result<bool, String> {
    let text = program(seed);
    let (all, _) = report(&text, false, Symmetry::Off)?;
    let mut is_any_first = false;
    for symmetry in [Symmetry::Off, Symmetry::Auto] {
        let (first, is_first) = report(&text, true, symmetry)?;
        is_any_first |= is_first;
        if first.verdict != all.verdict {
            return Err(format!("seed {seed}: {:?} and not {:?}\n{text}", first.verdict, all.verdict));
        }
        if first.states > all.states && first.verdict == quotient::Verdict::Holds {
            return Err(format!("seed {seed}: {} states and not {}\n{text}", first.states, all.states));
        }
    }
    Ok(is_any_first)
}

#[test]
fn nothing_is_missed_if_processes_are_created_first() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_CREATION", 100)).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare(seed));
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), results.len(), wrong[0]);
    let used = results.iter().flatten().filter(|used| **used).count();
    assert!(used * 5 > seeds.len(), "only {used} of {} are about this", seeds.len());
}

/// Processes are created while another one is in an atomic sequence: what is skipped would not ask whose turn it is.
#[test]
fn creation_does_not_pass_over_atomic_sequences() {
    for sequence in ["x = 1; x = 2; y = 1", "c!1; x = 1; c?_", "x = 1; y == 0 -> x = 2; x = 0"] {
        for created in ["run node(0); run node(1)", "x = 2; run node(0)", "atomic { run node(0); run node(1) }"] {
            let text = format!(
                "byte x, y; chan c = [1] of {{ byte }}; active proctype other() {{ do :: atomic {{ {sequence} }} od }} \
                 proctype node(byte me) {{ do :: x = (x + 1) % 3 od }} init {{ {created} }}"
            );
            let verdict = |merges| report(&text, merges, Symmetry::Off).expect("a model").0.verdict;
            assert_eq!(verdict(true), verdict(false), "{text}");
        }
    }
}

/// A process that is there from the start may have moved before others are created, and must not begin again then.
#[test]
fn creation_leaves_others_where_they_are() {
    let model = |creation: &str, node: &str| {
        format!(
            "byte x, y; chan c = [1] of {{ byte }}; proctype node() {{ {node} }}
             active proctype other() {{ byte a; y++; assert(y < 2); end: do :: c?a od }} init {{ {creation} }}"
        )
    };
    for creation in [
        "run node(); run node()",
        "byte i; run node(); i = 1; run node()",
        "byte i; run node(); i = 1; x = i; run node()",
        "byte i; do :: i < 2 -> run node(); i++ :: else -> break od",
    ] {
        for node in ["do :: c!1 od", "c!1; end: x == 3", "do :: c!1 :: x = 1 - x od"] {
            let text = model(creation, node);
            let states = |merges| report(&text, merges, Symmetry::Off).expect("a model").0;
            let (all, merged) = (states(false), states(true));
            assert_eq!((all.verdict, merged.verdict), (quotient::Verdict::Holds, quotient::Verdict::Holds), "{text}");
            assert!(merged.states <= all.states, "{} states and not {}\n{text}", merged.states, all.states);
        }
    }
}

/// The verdict and the symmetries of a model, with orders merged.
fn merged(text: &str) -> (quotient::Verdict, String) {
    let (found, is_merged) = report(text, true, Symmetry::Auto).expect("a model");
    assert!(is_merged, "{text}");
    let group = found.symmetry.expect("symmetries were asked for").group.expect("they are waited for");
    (found.verdict, group.structure)
}

#[test]
fn symmetries_of_rings_built_one_by_one_and_of_processes_that_end() {
    let node =
        "proctype node(byte me) { byte x; do :: c[me]?x -> c[(me + 1) % 4]!x :: x == 0 -> c[(me + 1) % 4]!1 od }";
    let init = "init { byte i = 0; do :: i < 4 -> run node(i); i++ :: else -> break od }";
    assert_eq!(merged(&format!("chan c[4] = [2] of {{ byte }};\n{node}\n{init}")).1, "C4");
    let ends = "byte n; bool lock; active [4] proctype P() { atomic { !lock -> lock = true }; n++; lock = false }";
    assert_eq!(merged(ends), (quotient::Verdict::Holds, "S4".to_owned()));
}

#[test]
fn an_atomic_sequence_that_others_can_see_does_not_go_first() {
    let text = "byte x;\nproctype other() { do :: assert(x == 1) od }\nproctype node(byte me) { do :: x = 1 od }\n\
                init { byte i; run other(); atomic { i = 1; x = 1; run node(i) } }";
    for merges in [false, true] {
        let (found, _) = report(text, merges, Symmetry::Off).expect("a model");
        assert_eq!(found.verdict, quotient::Verdict::Violated);
    }
}
