//! Our own CSP# models with what their headers expect, and random programs against a direct interpreter: numbers of
//! states and steps, deadlocks, and the quotient against the whole.

use std::path::PathBuf;

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{Budget, DeadlockMode, Interrupt, Layout, Model, PropertyId, Source};
use quotient_search::{EngineError, Extent, SearchOptions, Silent, StopReason, Verdict};
use quotient_symmetry::Preserved;
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::csp_examples;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::promela::order;
use quotient_testkit::random_csp::{Explored, random_csp};
use quotient_testkit::search::{check, check_with, cross_check, plan};
use quotient_testkit::switches::number_from;

fn read(name: &str, text: &str, constants: &[(String, String)]) -> Result<Model, String> {
    let options = LoadOptions { constants: constants.to_vec(), ..LoadOptions::default() };
    let loaded = load(Source::new(name, text), Language::Csp, &options);
    loaded.map(|loaded| loaded.model).map_err(|diagnostics| format!("{diagnostics:#?}\n{text}"))
}

/// The lines of the header with a key.
fn expected<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//"));
    lines.filter_map(move |line| line.trim().strip_prefix(key)?.strip_prefix(':').map(str::trim))
}

fn models() -> Vec<(PathBuf, String)> {
    let paths = csp_examples();
    assert!(paths.len() >= 8);
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).expect("a model is a text"))).collect()
}

fn mode(model: &Model) -> DeadlockMode {
    if model.claims_no_deadlock { DeadlockMode::Stuck } else { DeadlockMode::Off }
}

/// Compares a model with what is expected: `states 12`, `orbits 3`, `order 4`.
fn compare_with(name: &str, model: &Model, verdict: Verdict, numbers: &[(&str, &str)]) {
    let number = |key: &str| numbers.iter().find(|(it, _)| *it == key).map(|(_, value)| (*value).to_owned());
    if let Some(expected) = number("order") {
        assert_eq!(order(model), expected, "{name}");
    }
    if number("states").is_none() {
        return;
    }
    let options = SearchOptions { deadlock: mode(model), ..SearchOptions::default() };
    let layout = Layout::new(model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let plan = plan(model, &layout, &properties, SymmetrySource::Detected, None).expect("a plan");
    let whole = check(model, &options, &mut Silent).expect("a report");
    let reduced = check_with(model, &layout, &plan, &options, &mut Silent).expect("a report");
    assert_eq!(whole.verdict, verdict, "{name}");
    assert_eq!(reduced.verdict, verdict, "{name}");
    assert_eq!(Some(whole.states.to_string()), number("states"), "{name}");
    assert_eq!(reduced.represented, whole.represented, "{name}");
    if let Some(orbits) = number("orbits") {
        assert_eq!(reduced.states.to_string(), orbits, "{name}");
    }
}

/// Formulas under the fairness that headers name: `fairness weak-event, global with N=3: holds`.
#[test]
fn formulas_hold_under_the_fairness_that_headers_name() {
    let mut compared = 0;
    for (path, text) in models() {
        let name = path.display().to_string();
        for line in text.lines().filter_map(|line| line.strip_prefix("// fairness ")) {
            let (modes, verdict) = line.split_once(": ").expect("modes and a verdict");
            let (modes, constants) = modes.split_once(" with ").unwrap_or((modes, ""));
            let constants = constants.split(", ").filter_map(|it| it.split_once('='));
            let constants = constants.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let options = quotient::LoadOptions { constants, ..quotient::LoadOptions::default() };
            let model = quotient::Model::from_path_with(&path, &options).expect("a model");
            let verdict = if verdict == "holds" { Verdict::Holds } else { Verdict::Violated };
            for mode in modes.split(", ") {
                let fairness = quotient::FairnessMode::ALL.into_iter().find(|it| it.name() == mode);
                let options = quotient::Options {
                    fairness: fairness.expect("a kind of fairness"),
                    ..quotient::Options::default()
                };
                let reduction = quotient::Reduction::By(quotient::Strategy::Canonical);
                for options in [quotient::Options { reduction, ..options.clone() }, options] {
                    let plan = quotient::Plan::new(&model, &options).expect("a plan");
                    let report = plan.run().expect("a report");
                    assert_eq!(report.verdict, verdict, "{name}: {line}, {mode}, {:?}", options.reduction);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 50, "{compared} compared");
}

#[test]
fn models_give_what_their_headers_expect() {
    for (path, text) in models() {
        let name = path.display().to_string();
        let model = read(&name, &text, &[]).expect("our models are right");
        let verdict = match expected(&text, "expect").next() {
            Some("holds") => Verdict::Holds,
            Some("violated") => Verdict::Violated,
            other => panic!("{name}: what does `{other:?}` expect?"),
        };
        let numbers: Vec<(&str, &str)> =
            ["states", "orbits", "order"].iter().filter_map(|key| Some((*key, expected(&text, key).next()?))).collect();
        compare_with(&name, &model, verdict, &numbers);
        for line in text.lines().filter_map(|line| line.strip_prefix("// with ")) {
            let (constants, numbers) = line.split_once(": ").expect("constants and numbers");
            let constants: Vec<(String, String)> = constants
                .split(", ")
                .map(|it| it.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).expect("a value"))
                .collect();
            let numbers: Vec<(&str, &str)> = numbers.split(", ").filter_map(|it| it.split_once(' ')).collect();
            let model = read(&name, &text, &constants).expect("our models are right");
            compare_with(&format!("{name} with {constants:?}"), &model, Verdict::Holds, &numbers);
        }
    }
}

/// Compares a random program with the interpreter; whether symmetries were used.
fn compare(seed: u64, limit: u64) -> Result<Option<bool>, String> {
    let program = random_csp(seed);
    let text = program.text();
    let Some(Explored { states, steps, terminated, deadlock, .. }) = program.explore(limit) else { return Ok(None) };
    let told = |problem: String| format!("seed {seed}: {problem}\n{text}");
    let model = match load(Source::new("random.csp", text.as_str()), Language::Csp, &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        // Events that would have to synchronise, and are not constant; terms that grow behind conditions that never hold.
        Err(diagnostics) if diagnostics.iter().any(|it| matches!(it.code, "varying-event" | "too-large")) => {
            return Ok(None);
        }
        Err(diagnostics) => return Err(told(format!("{diagnostics:#?}"))),
    };
    let failed = |error: EngineError| told(error.to_string());
    // Counted without stopping at the first deadlock. After termination, a step stays there.
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    let whole = check(&model, &options, &mut Silent).map_err(failed)?;
    if (whole.states, whole.transitions) != (states, steps + terminated) {
        let found = format!("{} states and {} steps", whole.states, whole.transitions);
        return Err(told(format!("{found}, not {states} and {}", steps + terminated)));
    }
    let stuck = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
    let found = check(&model, &stuck, &mut Silent).map_err(failed)?;
    if (found.verdict == Verdict::Violated) != deadlock {
        return Err(told(format!("{:?}, with a deadlock: {deadlock}", found.verdict)));
    }
    let layout = Layout::new(&model).map_err(|error| told(error.to_string()))?;
    let budget = Budget::new(2_000_000, Interrupt::new());
    let plan =
        quotient_systems::plan(&model, &layout, Preserved::Properties(&[]), SymmetrySource::Detected, None, &budget);
    let plan = match plan {
        Err(EngineError::GaveUp(_)) => return Ok(Some(false)),
        plan => plan.map_err(failed)?,
    };
    let (reduced, comparison) = cross_check(&model, &layout, &plan, &options, &mut Silent).map_err(failed)?;
    if comparison.extent == Extent::Everything && reduced.represented != comparison.whole.represented {
        return Err(told(format!("{:?} states are represented", reduced.represented)));
    }
    Ok(Some(plan.reduction.is_some()))
}

#[test]
fn random_programs_against_a_direct_interpreter() {
    let programs = number_from("QUOTIENT_RANDOM_CSP", 150);
    let first = number_from("QUOTIENT_RANDOM_SEED", 1);
    let seeds: Vec<u64> = (first..first + programs).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare(seed, 600));
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[0]);
    let compared = results.iter().filter(|it| matches!(it, Ok(Some(_)))).count();
    assert!(3 * compared > results.len(), "{compared} compared");
}

/// Compares the least and the greatest value of a random program with those of the interpreter.
fn compare_optima(seed: u64, limit: u64) -> Result<bool, String> {
    let program = random_csp(seed);
    let Some(Explored { valuations, .. }) = program.explore(limit) else { return Ok(false) };
    let fitting = valuations.iter().filter(|values| values[1] != 2);
    let values: Vec<i64> = fitting.map(|values| 5 * values[0] - 3 * values[1]).collect();
    let claims = "#define fits (v1 != 2);
#assert System() reaches fits with min(5 * v0 - 3 * v1);
#assert System() reaches fits with max(5 * v0 - 3 * v1);
";
    let text = format!("{}{claims}", program.text());
    let told = |problem: String| format!("seed {seed}: {problem}\n{text}");
    let Ok(model) = quotient::Model::from_text("random.csp", &text, quotient::Language::Csp) else { return Ok(false) };
    let options = quotient::Options { deadlock: Some(DeadlockMode::Off), ..quotient::Options::default() };
    let plan = quotient::Plan::new(&model, &options).map_err(|error| told(error.to_string()))?;
    let report = plan.run().map_err(|error| told(error.to_string()))?;
    let found: Vec<(i64, bool)> = report.optima.iter().map(|it| (it.value, it.is_proved)).collect();
    let expected: Vec<(i64, bool)> = match (values.iter().min(), values.iter().max()) {
        (Some(&least), Some(&greatest)) => vec![(least, true), (greatest, true)],
        _ => Vec::new(),
    };
    if found == expected { Ok(!expected.is_empty()) } else { Err(told(format!("{found:?}, not {expected:?}"))) }
}

#[test]
fn optima_of_random_programs() {
    let programs = number_from("QUOTIENT_RANDOM_CSP", 100);
    let seeds: Vec<u64> = (1..=programs).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare_optima(seed, 300));
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[0]);
    let compared = results.iter().filter(|it| **it == Ok(true)).count();
    assert!(3 * compared > results.len(), "{compared} compared");
}

/// The numbers of states and steps of a text.
fn counts(text: &str) -> (u64, u64) {
    let model = read("text.csp", text, &[]).expect("a right model");
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    let report = check(&model, &options, &mut Silent).expect("a report");
    (report.states, report.transitions)
}

#[test]
fn compositions_that_end_and_begin_again() {
    // An interrupted composition leaves nothing behind, although the next one uses the same variables: each round has
    // the two ways of `b` and `c`, or the end at once.
    let text = "P = ((a -> (b -> Stop ||| c -> Stop)) ||| Stop) interrupt stop -> Q;
                Q = (d -> Stop ||| Stop) interrupt again -> P;
                #assert P deadlockfree;";
    // P: before a; after it, each of b and c done or not. Q: d done or not.
    assert_eq!(counts(text), (5 + 2, (1 + 4) + 5 + (1 + 2)));
    // A composition that terminates and begins again.
    let text = "P = (a -> (b -> Skip ||| c -> Skip) ||| Skip); P; #assert P deadlockfree;";
    assert_eq!(counts(text), (5, 1 + 4 + 1));
}

/// The verdict on a text, and the limit that was met with the text at its place.
fn stopped(text: &str) -> (Verdict, String) {
    let model = read("text.csp", text, &[]).expect("a right model");
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    let report = check(&model, &options, &mut Silent).expect("a report");
    let message = match &report.stop_reason {
        Some(StopReason::Exhausted(fault)) => {
            let place = text.get(fault.span.range()).unwrap_or_default();
            format!("{fault} at {place}")
        }
        other => format!("{other:?}"),
    };
    (report.verdict, message)
}

#[test]
fn processes_that_grow_are_inconclusive() {
    let grown = |text: &str, expected: &str| {
        let (verdict, message) = stopped(text);
        assert_eq!(verdict, Verdict::Inconclusive, "{text}");
        assert_eq!(message, format!("the process grows without a bound that was found: {expected}"));
    };
    grown("P = a -> (P ||| P); #assert P deadlockfree;", "`P() ||| P()` at P");
    let text = "P = (a -> P [] c -> Skip); b -> Skip; #assert P deadlockfree;";
    grown(text, "`…((P(); (b -> Skip)); (b -> Skip))…` at P");
    grown("S(i) = c.i -> S(i + 1); #assert S(0) deadlockfree;", "#1 of `S(#1)` is beyond 65536 at S");
    let text = "S(i) = c.i -> T(i); T(j) = d -> S(2 * j); #assert S(1) deadlockfree;";
    grown(text, "#1 of `S(#1)` is beyond 65536 at S");
    // Each round hides one event more.
    let text = "P(i) = (a.i -> P(i + 1)) \\ {a.i}; #assert P(0) deadlockfree;";
    assert_eq!(stopped(text).0, Verdict::Inconclusive);
    // Values that are not computed from themselves, and values with a condition.
    let text = "S(i) = c.i -> T(1000 * i); T(j) = d -> S(100); #assert S(1) deadlockfree;";
    assert_eq!(stopped(text).0, Verdict::Holds);
    let text = "S(i) = [i < 70000] c.i -> S(i + 1) [] [i == 70000] d -> Skip; #assert S(0) deadlockfree;";
    assert_eq!(stopped(text).0, Verdict::Holds);
}

#[test]
fn recursions_through_operators_with_finitely_many_terms() {
    // Nested hidings, also of different sets, are one.
    assert_eq!(counts("P = (a -> P) \\ {a}; #assert P deadlockfree;"), (2, 2));
    assert_eq!(counts("P = (a -> Q) \\ {a}; Q = (b -> P) \\ {b}; #assert P deadlockfree;").0, 4);
    assert_eq!(counts("P = (a -> P) \\ {b, x:{1..2} @ a.x, a.1}; #assert P deadlockfree;"), (2, 2));
    assert_eq!(counts("P = atomic { a -> P }; #assert P deadlockfree;"), (2, 2));
    // A composition is one position whether its parts were components before the step or not: here the argument of `Q`
    // depends on the state, so they are not before the first step.
    let text = "var v = 0; Q(i) = (Skip; (c -> Stop)) ||| (s -> Skip); P = (d{v = 2;} -> Q(v)); (e -> Skip); \
                #assert P deadlockfree;";
    assert_eq!(counts(text), (1 + 2 * 3, 1 + 3 + 4));
    // Nothing follows what does not terminate.
    assert_eq!(counts("P = a -> P; b -> Skip; #assert P deadlockfree;"), (1, 1));
    // `b` of the inner process ends it, `b` of the outer one both.
    assert_eq!(counts("P = (a -> P) interrupt (b -> P); #assert P deadlockfree;"), (2, 5));
    // Here an internal step decides what may interrupt, and the copies are different.
    assert_eq!(stopped("P = (a -> P) interrupt (tau -> b -> P); #assert P deadlockfree;").0, Verdict::Inconclusive);
}

/// A process that occurs with an event hidden, and again with the event visible, has it in its alphabet.
#[test]
fn alphabets_of_processes_with_and_without_hiding() {
    for both in ["(B \\ {a}); B", "B; (B \\ {a})", "(B ||| (B \\ {a}))"] {
        let text = format!(
            "var x = 0; var y = 0; B = a -> Skip; E = e{{if (x == 0) {{ y = 1; }}}} -> Stop; R = {both}; E; \
             T = c{{x = 1;}} -> a -> Stop; Q = R || T; #define early (y == 1); #assert Q reaches early;"
        );
        let model = read("test", &text, &[]).expect("a model");
        let report = check(&model, &SearchOptions::default(), &mut Silent).expect("a report");
        // The visible event waits for `T`.
        assert_eq!(report.verdict, Verdict::Violated, "{both}");
    }
}

/// Processes that only data bounds are represented as deep as they get.
#[test]
fn recursion_that_data_bound() {
    let cases = [
        // A variable that nothing assigns decides which process calls itself.
        (
            "var board = [0, 1, 0]; var x = 0; \
             Visit(i) = if (board[i] == 1) { step.i -> Visit(0); Visit(2); Visit(0) } else { leaf.i{x = i;} -> Skip }; \
             Game() = ([] i:{0..2} @ pick.i -> Visit(i)); Game(); #assert Game() deadlockfree;",
            20,
        ),
        // Each number is visited once; the text allows ever deeper sequences.
        (
            "var seen[2]; \
             Visit(i) = if (seen[i] == 0) { mark.i{seen[i] = 1;} -> Visit(1 - i); Visit(1 - i) } else { Skip }; \
             Game() = Visit(0); done -> Game(); #assert Game() deadlockfree;",
            9,
        ),
        // The text allows exponentially many sequences, of which data leave 66. The number of states is that of a search of
        // terms by hand.
        (
            "var open[4]; \
             Fill(i) = if (open[i] == 0) { mark.i{open[i] = 1;} -> Fill((i + 1) % 4); Fill((i + 3) % 4); Play() } \
             else { Skip }; \
             Play() = ([] i:{0..3} @ [open[i] == 0] pick.i -> Fill(i)) [] [open[0] + open[1] + open[2] + open[3] == 4] Skip; \
             #assert Play() deadlockfree;",
            67,
        ),
    ];
    for (text, states) in cases {
        let model = read("test", text, &[]).expect("a model");
        let options = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
        let report = check(&model, &options, &mut Silent).expect("a report");
        assert_eq!((report.verdict, report.states), (Verdict::Holds, states), "{text}");
    }
}

/// That no atomic step is enabled is a condition on all of them; expressions are not nested as deeply as there are steps.
#[test]
fn very_many_atomic_steps() {
    let text = "P() = [] x:{0..149} @ [] y:{0..89} @ atomic { a.x.y -> Stop }; System() = P() ||| P() ||| b -> Stop; \
                #assert System() deadlockfree;";
    let model = read("test", text, &[]).expect("a model");
    let options = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
    let report = check(&model, &options, &mut Silent).expect("a report");
    assert_eq!(report.verdict, Verdict::Violated);
}
