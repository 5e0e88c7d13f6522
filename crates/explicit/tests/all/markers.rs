//! Searches by markers: a system is not changed by running it, so that a search which was interrupted ends as one
//! that was not, and threads agree.

use num_bigint::BigUint;
use quotient_ir::{Layout, Model, PropertyId};
use quotient_representatives::Strategy;
use quotient_search::{EngineError, Report, SearchOptions, Silent, Spill, StopReason, StoreMode, Verdict};
use quotient_systems::{ReductionPlan, SymmetrySource};
use quotient_testkit::examples::{load_murphi, murphi_examples};
use quotient_testkit::search::{check_with, plan};

const MARKERS: [Strategy; 3] = [Strategy::Markers, Strategy::MarkersTrees, Strategy::MarkersCanonical];

fn planned(model: &Model, layout: &Layout, strategy: Strategy) -> ReductionPlan {
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    plan(model, layout, &properties, SymmetrySource::Detected, Some(strategy)).expect("certified symmetries")
}

fn example(name: &str) -> Model {
    let examples = murphi_examples();
    let example = examples.iter().find(|example| example.name == name).expect("an example of this name");
    load_murphi(name, &example.text, &[]).expect("a model")
}

fn without_memory(report: Report) -> Report {
    Report { memory_bytes: 0, ..report }
}

#[test]
fn an_interrupted_search_ends_as_one_that_was_not() {
    let model = example("german.m");
    let layout = Layout::new(&model).expect("a layout");
    let folder = tempfile::tempdir().expect("a folder");
    for strategy in MARKERS {
        let plan = planned(&model, &layout, strategy);
        let whole = check_with(&model, &layout, &plan, &SearchOptions::default(), &mut Silent).expect("a report");
        if strategy == Strategy::MarkersCanonical {
            assert_eq!((whole.verdict, whole.states), (Verdict::Holds, 5_235));
            assert_eq!(whole.represented, Some(BigUint::from(58_104u32)));
        }
        for (stopped_on, resumed_on) in [(1, 1), (1, 2), (2, 1), (4, 2)] {
            let checkpoint = folder.path().join(format!("{strategy}-{stopped_on}-{resumed_on}"));
            let begin = SearchOptions {
                max_states: Some(2_000),
                checkpoint: Some(checkpoint.clone()),
                threads: stopped_on,
                ..SearchOptions::default()
            };
            let stopped = check_with(&model, &layout, &plan, &begin, &mut Silent).expect("a report");
            assert!(stopped.stop_reason.is_some_and(|it| it != StopReason::Violation), "{strategy}");
            let rest = SearchOptions { resume: Some(checkpoint), threads: resumed_on, ..SearchOptions::default() };
            let report = check_with(&model, &layout, &plan, &rest, &mut Silent).expect("a report");
            assert_eq!(without_memory(report), without_memory(whole.clone()), "{strategy}");
        }
    }
}

#[test]
fn threads_agree() {
    let models = ["german.m", "german_forgotten_reader.m", "mesi.m", "lock_server.m", "resource_allocator.m"];
    let mut reduced = 0;
    for name in models {
        let model = example(name);
        let layout = Layout::new(&model).expect("a layout");
        for strategy in MARKERS {
            let plan = planned(&model, &layout, strategy);
            reduced += usize::from(plan.reduction.is_some());
            let report = |threads| {
                let options = SearchOptions { threads, ..SearchOptions::default() };
                without_memory(check_with(&model, &layout, &plan, &options, &mut Silent).expect("a report"))
            };
            let alone = report(1);
            for threads in [2, 2, 4] {
                assert_eq!(report(threads), alone, "{name}, {strategy}, {threads} threads");
            }
        }
    }
    assert!(reduced >= 6, "{reduced} searches were reduced");
}

#[test]
fn a_second_run_finds_the_same() {
    let model = example("german.m");
    let layout = Layout::new(&model).expect("a layout");
    let plan = planned(&model, &layout, Strategy::MarkersCanonical);
    let options = SearchOptions { cross_check: true, ..SearchOptions::default() };
    let first = check_with(&model, &layout, &plan, &options, &mut Silent).expect("a report");
    let second = check_with(&model, &layout, &plan, &options, &mut Silent).expect("a report");
    assert_eq!(first, second);
    assert!(first.cross_check.is_some());
}

#[test]
fn what_cannot_work_is_refused() {
    let model = example("german.m");
    let layout = Layout::new(&model).expect("a layout");
    let spill = Some(Spill { folder: std::env::temp_dir(), max_bytes: None });
    for strategy in MARKERS {
        let plan = planned(&model, &layout, strategy);
        let on_disk = SearchOptions { spill: spill.clone(), ..SearchOptions::default() };
        let refused = check_with(&model, &layout, &plan, &on_disk, &mut Silent);
        assert!(matches!(refused, Err(EngineError::Refused(_))), "{strategy}: {refused:?}");
        let compact = SearchOptions { store: StoreMode::Compact, ..SearchOptions::default() };
        let found = check_with(&model, &layout, &plan, &compact, &mut Silent);
        let is_refused = matches!(found, Err(EngineError::Refused(_)));
        assert_eq!(is_refused, strategy == Strategy::MarkersCanonical, "{strategy}: {found:?}");
    }
}
