//! Our own Promela models: the results that their headers expect, the groups of their symmetries, the
//! quotient against the whole, and the number of stored states that SPIN finds.

use std::path::PathBuf;
use std::time::Duration;

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{DeadlockMode, Layout, PropertyId, Source};
use quotient_search::{EngineError, Extent, Report, SearchOptions, Silent, Verdict};
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::promela_examples;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::promela::{count, load_promela, order};
use quotient_testkit::random_promela::random_promela;
use quotient_testkit::search::{check, check_with, cross_check, plan};
use quotient_testkit::spin::Spin;

/// One configuration of a model and what to expect of it.
#[derive(Default, Debug)]
struct Case {
    constants: Vec<(String, String)>,
    states: Option<u64>,
    order: Option<String>,
}

/// The cases of a header: `// states: 20`, `// order: 6`, `// with N=8: states 3328, order 40320`.
fn cases(text: &str) -> Vec<Case> {
    let mut cases = vec![Case::default()];
    for line in text.lines().map_while(|line| line.strip_prefix("//")) {
        let line = line.trim();
        if let Some(states) = line.strip_prefix("states: ") {
            cases[0].states = states.parse().ok();
        } else if let Some(order) = line.strip_prefix("order: ") {
            cases[0].order = Some(order.to_owned());
        } else if let Some((constants, results)) = line.strip_prefix("with ").and_then(|rest| rest.split_once(": ")) {
            let mut case = Case::default();
            for definition in constants.split(", ") {
                let (name, value) = definition.split_once('=').expect("NAME=VALUE");
                case.constants.push((name.to_owned(), value.to_owned()));
            }
            for result in results.split(", ") {
                match result.split_once(' ') {
                    Some(("states", states)) => case.states = states.parse().ok(),
                    Some(("order", order)) => case.order = Some(order.to_owned()),
                    _ => panic!("what does `{result}` expect?"),
                }
            }
            cases.push(case);
        }
    }
    assert!(cases[0].states.is_some() && cases[0].order.is_some(), "a header says how many states and symmetries");
    cases
}

fn models() -> Vec<(PathBuf, String)> {
    let paths = promela_examples();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).expect("a model is a text"))).collect()
}

#[test]
fn symmetries_are_found_from_the_text() {
    let mut wrong = Vec::new();
    for (path, text) in models() {
        for case in cases(&text) {
            let Some(expected) = &case.order else { continue };
            let model = load_promela(&path, &case.constants, false).expect("our models are right");
            let found = order(&model);
            if found != *expected {
                wrong.push(format!("{} {:?}: order {found}, not {expected}", path.display(), case.constants));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_quotient_stands_for_the_whole() {
    let options = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
    for (path, text) in models() {
        for case in cases(&text).into_iter().filter(|case| case.states.is_some_and(|states| states < 50_000)) {
            let model = load_promela(&path, &case.constants, false).expect("our models are right");
            let layout = Layout::new(&model).expect("a layout");
            let properties: Vec<PropertyId> = model.properties.indices().collect();
            let plan = plan(&model, &layout, &properties, SymmetrySource::Detected, None).expect("a plan");
            let whole = check(&model, &options, &mut Silent).expect("a report");
            let reduced = check_with(&model, &layout, &plan, &options, &mut Silent).expect("a report");
            let name = path.display();
            assert_eq!(whole.verdict, Verdict::Holds, "{name}");
            assert_eq!(reduced.verdict, whole.verdict, "{name} {:?}", case.constants);
            assert_eq!(reduced.represented, whole.represented, "{name} {:?}", case.constants);
        }
    }
}

/// Programs with states inside of atomic sequences: every orbit has one representative, their sizes add up,
/// and threads change nothing.
#[test]
fn the_quotient_of_random_programs_stands_for_the_whole() {
    let seeds: Vec<u64> = (1..=120).collect();
    let results = map_on_workers(2, &seeds, |&seed| -> Result<bool, String> {
        let source = Source::new(format!("random{seed}.pml"), random_promela(seed));
        let Ok(loaded) = load(source, Language::Promela, &LoadOptions::default()) else { return Ok(false) };
        let model = loaded.model;
        let layout = Layout::new(&model).map_err(|error| error.to_string())?;
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let text = |error: EngineError| format!("seed {seed}: {error}");
        let plan = plan(&model, &layout, &properties, SymmetrySource::Detected, None).map_err(text)?;
        let base = SearchOptions { max_states: Some(4000), ..SearchOptions::default() };
        for deadlock in [DeadlockMode::Stuck, DeadlockMode::Off] {
            let options = SearchOptions { deadlock, ..base.clone() };
            let (one, comparison) = cross_check(&model, &layout, &plan, &options, &mut Silent).map_err(text)?;
            let options = SearchOptions { threads: 2, ..options };
            let two = check_with(&model, &layout, &plan, &options, &mut Silent).map_err(text)?;
            let figures = |it: &Report| (it.states, it.transitions, it.properties.clone(), it.represented.clone());
            if figures(&one) != figures(&two) {
                return Err(format!("seed {seed}: {:?} on one thread, {:?} on two", figures(&one), figures(&two)));
            }
            if comparison.extent == Extent::Everything && one.represented != comparison.whole.represented {
                return Err(format!("seed {seed}: {:?} represented", one.represented));
            }
        }
        Ok(plan.reduction.is_some() && model.passing().next().is_some())
    });
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let reduced = results.iter().filter(|it| **it == Ok(true)).count();
    assert!(reduced > 0, "none of the programs has atomic sequences and symmetries");
}

#[test]
fn spin_finds_as_many_states() {
    let spin = Spin::find_or_skip("our Promela models against SPIN");
    for (path, text) in models() {
        for case in cases(&text) {
            let Some(expected) = case.states else { continue };
            let model = load_promela(&path, &case.constants, true).expect("our models are right");
            let counts = count(&model, 200_000);
            assert_eq!(counts.states, expected, "{} {:?}", path.display(), case.constants);
            if let Some(spin) = &spin {
                let answer = spin.run(&path, &case.constants, Duration::from_secs(120)).expect("spin answers");
                assert_eq!(answer.states, expected, "{} {:?}", path.display(), case.constants);
                assert_eq!(answer.deadlock, counts.deadlock, "{} {:?}", path.display(), case.constants);
            }
        }
    }
}
