//! Searches on several threads that find the states of a level in any order: verdicts, counts, depths, levels and the
//! lengths of runs are those of one thread where all states are searched, and the same in each run where something is
//! wrong, also if states move to dense sets on the way.
//!
//! A few hundred random models are tried; `QUOTIENT_ANY_ORDER` sets another number, and `QUOTIENT_RANDOM_SEED` the first
//! seed.

use quotient_explicit::check;
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, PropertyId, replay};
use quotient_representatives::Strategy;
use quotient_search::{Report, SearchOptions, Silent, Subject, Verdict};
use quotient_systems::SymmetrySource;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_models::Sort;
use quotient_testkit::search::plan;
use quotient_testkit::switches::number_from;

/// The largest number of states that are compared.
const LARGEST: u64 = 20_000;

/// The verdicts on all subjects, and the lengths of the runs that show them.
fn verdicts(report: &Report) -> Vec<(Subject, Verdict, Option<usize>)> {
    let length = |report: &quotient_search::PropertyReport| report.trace.as_ref().map(|trace| trace.steps.len());
    report.properties.iter().map(|property| (property.subject, property.verdict, length(property))).collect()
}

/// What a search counts.
fn figures(report: &Report) -> impl PartialEq + std::fmt::Debug + use<> {
    let levels = report.levels.clone();
    (report.states, report.transitions, report.depth, levels, report.represented.clone(), report.stop_reason.clone())
}

/// Compares a model; returns whether something is wrong in it.
fn compare(model: &Model, deadlock: DeadlockMode) -> Result<Option<bool>, String> {
    let text = |error: quotient_search::EngineError| error.to_string();
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(model, &layout);
    let base = SearchOptions { deadlock, max_states: Some(LARGEST), ..SearchOptions::default() };
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let symmetric = plan(model, &layout, &properties, SymmetrySource::Detected, Some(Strategy::Canonical));
    let symmetric = symmetric.map_err(text)?;
    let mut is_wrong = false;
    for reduction in [None, Some(&symmetric)] {
        let alone = check(model, &layout, reduction, &base, &mut Silent).map_err(text)?;
        if matches!(alone.stop_reason, Some(quotient_search::StopReason::StateLimit(_))) {
            return Ok(None);
        }
        let mut known = None;
        let half = alone.states / 2;
        let ways = [(2, 1, false), (4, 1, false), (3, 7, false), (2, half, false), (2, alone.states + 1, false)];
        for (threads, ordered_states, is_dense) in ways.into_iter().chain([(2, 1, true), (3, half, true)]) {
            // The states of a level that were found in any order move to dense sets at its end.
            let dense_from = is_dense.then_some(0);
            let options = SearchOptions { threads, ordered_states, dense_from, max_states: None, ..base.clone() };
            let report = check(model, &layout, reduction, &options, &mut Silent).map_err(text)?;
            let symmetries = reduction.is_some();
            let how =
                format!("{threads} threads, {ordered_states} in order, dense {is_dense}, symmetries {symmetries}");
            for trace in report.properties.iter().filter_map(|property| property.trace.as_ref()) {
                replay(&interpreter, trace).map_err(|error| format!("{how}: a run does not replay: {error}"))?;
            }
            if report.verdict != alone.verdict {
                return Err(format!("{how}: {:?}, {:?} on one thread", report.verdict, alone.verdict));
            }
            if alone.stop_reason.is_none() {
                if (figures(&report), verdicts(&report)) != (figures(&alone), verdicts(&alone)) {
                    return Err(format!("{how}: {:?}, {:?} on one thread", figures(&report), figures(&alone)));
                }
                continue;
            }
            is_wrong = true;
            let longest = |report: &Report| {
                let steps = report.properties.iter().filter_map(|property| property.trace.as_ref());
                steps.map(|trace| trace.steps.len()).max()
            };
            // A shortest run to anything.
            if longest(&report) > longest(&alone) {
                return Err(format!("{how}: {:?} steps, {:?} on one thread", longest(&report), longest(&alone)));
            }
            let found = (figures(&report), verdicts(&report));
            // Nothing was in any order where the violation came before.
            if ordered_states <= 1 && *known.get_or_insert_with(|| (figures(&report), verdicts(&report))) != found {
                return Err(format!("{how}: {found:?}, before {known:?}"));
            }
        }
    }
    Ok(Some(is_wrong))
}

fn compare_all(sort: Sort, models: u64) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_ANY_ORDER", models)).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let model = sort.model(seed)?;
        Some(compare(&model, sort.deadlock(seed)).map_err(|error| format!("{} {seed}: {error}", sort.name())))
    });
    let (mut compared, mut wrong) = (0, 0);
    let mut errors = Vec::new();
    for result in results.into_iter().flatten() {
        match result {
            Ok(None) => {}
            Ok(Some(is_wrong)) => {
                compared += 1;
                wrong += u32::from(is_wrong);
            }
            Err(error) => errors.push(error),
        }
    }
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{}: {compared} models compared, something wrong in {wrong}", sort.name());
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(compared > 0 && wrong > 0);
}

#[test]
fn random_murphi_programs() {
    compare_all(Sort::Murphi, 60);
}

#[test]
fn loosely_coupled_processes() {
    compare_all(Sort::Loose, 30);
}

#[test]
fn random_promela_programs() {
    compare_all(Sort::Promela, 20);
}

#[test]
fn random_b_machines() {
    compare_all(Sort::B, 20);
}
