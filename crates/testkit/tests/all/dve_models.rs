//! Our own DVE models with what their headers expect, and random systems against a direct interpreter: numbers of states,
//! deadlocks, run-time errors, and the quotient against the whole.

use std::path::PathBuf;

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{Budget, DeadlockMode, Interrupt, Layout, Model, PropertyId, Source};
use quotient_search::{EngineError, Extent, SearchOptions, Silent, Verdict};
use quotient_symmetry::Preserved;
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::dve_examples;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::promela::{count, order};
use quotient_testkit::random_dve::{Explored, random_dve};
use quotient_testkit::search::{check, check_with, cross_check, plan};
use quotient_testkit::switches::number_from;
use quotient_testkit::verdict::{Answer, VerdictClass};

fn read(name: &str, text: &str) -> Result<Model, String> {
    let loaded = load(Source::new(name, text), Language::Dve, &LoadOptions::default());
    loaded.map(|loaded| loaded.model).map_err(|diagnostics| format!("{diagnostics:#?}\n{text}"))
}

/// The value of a line of the header.
fn expected<'t>(text: &'t str, key: &str) -> &'t str {
    let mut lines = text.lines().map_while(|line| line.strip_prefix("//"));
    let value = lines.find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("the header has no line `{key}: …`"))
}

fn models() -> Vec<(PathBuf, String)> {
    let paths = dve_examples();
    assert!(paths.len() >= 4);
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).expect("a model is a text"))).collect()
}

#[test]
fn models_give_what_their_headers_expect() {
    let options = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
    for (path, text) in models() {
        let name = path.display().to_string();
        let model = read(&name, &text).expect("our models are right");
        let layout = Layout::new(&model).expect("a layout");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let plan = plan(&model, &layout, &properties, SymmetrySource::Detected, None).expect("a plan");
        let whole = check(&model, &options, &mut Silent).expect("a report");
        let reduced = check_with(&model, &layout, &plan, &options, &mut Silent).expect("a report");
        let answer = Answer::of(&model, &whole);
        let class = match expected(&text, "expect") {
            "holds" => VerdictClass::Holds,
            "violated deadlock" => VerdictClass::Deadlock,
            "violated errors" => VerdictClass::Range,
            other => panic!("{name}: what does `{other}` expect?"),
        };
        assert_eq!(answer.class, class, "{name}");
        assert_eq!(whole.states.to_string(), expected(&text, "states"), "{name}");
        assert_eq!(order(&model), expected(&text, "order"), "{name}");
        assert_eq!(reduced.verdict, whole.verdict, "{name}");
        if whole.verdict == Verdict::Holds {
            assert_eq!(reduced.represented, whole.represented, "{name}");
            assert!(reduced.states < whole.states, "{name}");
        }
    }
}

/// Compares a random system with the oracle; whether symmetries were used.
fn compare(seed: u64, limit: u64) -> Result<Option<bool>, String> {
    let system = random_dve(seed);
    let text = system.text();
    let Some(Explored { states, deadlock, error }) = system.explore(limit) else { return Ok(None) };
    let model = read("random.dve", &text)?;
    let told = |problem: String| format!("seed {seed}: {problem}\n{text}");
    let counts = count(&model, 4 * limit);
    if (counts.states, counts.deadlock, counts.fault.is_some()) != (states, deadlock, error) {
        return Err(told(format!("{counts:?}, not {states} states, deadlock {deadlock}, error {error}")));
    }
    let failed = |error: EngineError| told(error.to_string());
    let layout = Layout::new(&model).map_err(|error| told(error.to_string()))?;
    // Values that do not occur may be interchangeable in large numbers; that is not worth the time here.
    let budget = Budget::new(4_000_000, Interrupt::new());
    let plan =
        quotient_systems::plan(&model, &layout, Preserved::Properties(&[]), SymmetrySource::Detected, None, &budget);
    let plan = match plan {
        Err(EngineError::GaveUp(_)) => return Ok(Some(false)),
        plan => plan.map_err(failed)?,
    };
    for deadlock in [DeadlockMode::Stuck, DeadlockMode::Off] {
        let options = SearchOptions { deadlock, ..SearchOptions::default() };
        let (reduced, comparison) = cross_check(&model, &layout, &plan, &options, &mut Silent).map_err(failed)?;
        if comparison.extent == Extent::Everything && reduced.represented != comparison.whole.represented {
            return Err(told(format!("{:?} states are represented", reduced.represented)));
        }
    }
    Ok(Some(plan.reduction.is_some()))
}

#[test]
fn random_systems_against_a_direct_interpreter() {
    let programs = number_from("QUOTIENT_RANDOM_DVE", 150);
    let seeds: Vec<u64> = (1..=programs).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare(seed, 600));
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[0]);
    let compared = results.iter().filter(|it| matches!(it, Ok(Some(_)))).count();
    let reduced = results.iter().filter(|it| matches!(it, Ok(Some(true)))).count();
    assert!(2 * compared > results.len() && 10 * reduced > results.len(), "{compared} compared, {reduced} reduced");
}
