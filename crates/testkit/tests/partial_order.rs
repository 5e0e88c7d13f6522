//! Searches reduced by partial order against searches of all states: the same verdicts, deadlocks and errors on random
//! models of each language, with and without symmetries, in both orders, on one thread and on two.
//!
//! `QUOTIENT_RANDOM_ORDERS` sets the number of models of each sort, `QUOTIENT_RANDOM_SEED` the first seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quotient_engines::partial_order::Relations;
use quotient_engines::{
    Report, SearchOptions, SearchOrder, Silent, StopReason, Subject, SymmetrySource, Verdict, ViolationLimit, check,
};
use quotient_ir::{DeadlockMode, Interrupt, Layout, Model, PropertyId, PropertyKind};
use quotient_symmetry::Strategy;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_models::Sort;
use quotient_testkit::search::plan;
use quotient_testkit::switches::number_from;

/// Larger state spaces are left out.
const LARGEST: u64 = 20_000;

/// What happened over all models.
#[derive(Default)]
struct Tally {
    models: AtomicU64,
    reduced: AtomicU64,
    states: AtomicU64,
    stored: AtomicU64,
    /// The same if no states are passed through.
    unpassed: AtomicU64,
    violated: AtomicU64,
}

fn violated(report: &Report, model: &Model, covers: bool) -> Vec<Subject> {
    let is_cover = |subject: Subject| match subject {
        Subject::Property(id) => model.properties[id].kind == PropertyKind::Cover,
        _ => false,
    };
    let wrong = report.properties.iter().filter(|property| property.verdict == Verdict::Violated);
    wrong.map(|property| property.subject).filter(|&subject| covers || !is_cover(subject)).collect()
}

/// Compares all searches of a model with the whole one.
fn compare(model: &Model, deadlock: DeadlockMode, tally: &Tally) -> Result<(), String> {
    let text = |error: quotient_engines::EngineError| error.to_string();
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let kept: Vec<PropertyId> = model
        .properties
        .iter_enumerated()
        .filter(|(_, property)| matches!(property.kind, PropertyKind::Invariant | PropertyKind::Cover))
        .map(|(id, _)| id)
        .collect();
    let everything = SearchOptions { deadlock, properties: Some(kept.clone()), ..SearchOptions::default() };
    let whole = SearchOptions { max_states: Some(LARGEST), violations: ViolationLimit::All, ..everything.clone() };
    let expected = check(model, &layout, None, &whole, &mut Silent).map_err(text)?;
    if expected.stop_reason.as_ref().is_some_and(|reason| *reason != StopReason::Violation) {
        return Ok(());
    }
    // A property that has no value is one thing where all violations are collected, and another where the first counts.
    let first = check(model, &layout, None, &everything, &mut Silent).map_err(text)?;
    let with_first = |covers: bool| {
        let mut all = violated(&expected, model, covers);
        if !all.contains(&Subject::Errors) {
            all.extend(violated(&first, model, false).into_iter().filter(|&subject| subject == Subject::Errors));
        }
        all
    };
    let (wrong, all) = (with_first(false), with_first(true));
    let relations = match Relations::of(model, &layout, &everything, &Interrupt::new()) {
        Ok(relations) => Arc::new(relations),
        Err(_) => return Ok(()),
    };
    let storing_all = Arc::new(Relations::clone(&relations).storing_all());
    tally.models.fetch_add(1, Ordering::Relaxed);
    let symmetric = plan(model, &layout, &kept, SymmetrySource::Detected, Some(Strategy::Canonical)).map_err(text)?;
    for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
        let mut stored = Vec::new();
        for (plan, threads) in [(None, 1), (None, 2), (Some(&symmetric), 1), (Some(&symmetric), 2)] {
            if threads > 1 && order == SearchOrder::DepthFirst {
                continue;
            }
            let options =
                SearchOptions { order, threads, partial_order: Some(relations.clone()), ..everything.clone() };
            let name = format!("{order:?}, {threads} threads, symmetries {}", plan.is_some());
            let report =
                check(model, &layout, plan, &options, &mut Silent).map_err(|error| format!("{name}: {error}"))?;
            stored.push((report.states, report.transitions));
            let found = violated(&report, model, true);
            if wrong.is_empty() {
                if report.stop_reason.is_some() || found != all {
                    return Err(format!("{name}: {found:?} and {:?} instead of {all:?}", report.stop_reason));
                }
                if report.states > expected.states {
                    return Err(format!("{name}: {} states of {}", report.states, expected.states));
                }
                if threads > 1 {
                    continue;
                }
                // Local steps that are passed through never cost states.
                let unpassed = SearchOptions { partial_order: Some(storing_all.clone()), ..options };
                let unpassed = check(model, &layout, plan, &unpassed, &mut Silent).map_err(text)?;
                if report.states > unpassed.states {
                    return Err(format!("{name}: {} states, {} if all are stored", report.states, unpassed.states));
                }
                if plan.is_none() && order == SearchOrder::BreadthFirst {
                    tally.unpassed.fetch_add(unpassed.states, Ordering::Relaxed);
                    tally.states.fetch_add(expected.states, Ordering::Relaxed);
                    tally.stored.fetch_add(report.states, Ordering::Relaxed);
                    tally.reduced.fetch_add(u64::from(report.states < expected.states), Ordering::Relaxed);
                }
            } else if !found.iter().any(|subject| wrong.contains(subject))
                || found.iter().any(|subject| !all.contains(subject))
            {
                return Err(format!("{name}: {found:?} instead of one of {wrong:?}"));
            }
        }
        // Threads change nothing.
        if order == SearchOrder::BreadthFirst && (stored[0] != stored[1] || stored[2] != stored[3]) {
            return Err(format!("{stored:?} with one and two threads, without and with symmetries"));
        }
    }
    tally.violated.fetch_add(u64::from(!wrong.is_empty()), Ordering::Relaxed);
    if wrong.contains(&Subject::Errors) {
        return Ok(());
    }
    // Each subject on its own: others do not end the search before.
    let mut subjects: Vec<Subject> = kept.iter().map(|&id| Subject::Property(id)).collect();
    subjects.push(Subject::Deadlock);
    for subject in subjects {
        let (properties, deadlock) = match subject {
            Subject::Property(id) => (vec![id], DeadlockMode::Off),
            _ => (Vec::new(), deadlock),
        };
        let mut options =
            SearchOptions { properties: Some(properties), deadlock, errors: false, ..SearchOptions::default() };
        let Ok(relations) = Relations::of(model, &layout, &options, &Interrupt::new()) else { continue };
        // A property may have no value in a state that violates another one.
        let alone = check(model, &layout, None, &options, &mut Silent).map_err(text)?;
        if alone.stop_reason.as_ref().is_some_and(|reason| *reason != StopReason::Violation) {
            continue;
        }
        let expected = violated(&alone, model, true).contains(&subject);
        options.partial_order = Some(Arc::new(relations));
        for (order, plan) in [(SearchOrder::BreadthFirst, None), (SearchOrder::DepthFirst, Some(&symmetric))] {
            options.order = order;
            let report = check(model, &layout, plan, &options, &mut Silent).map_err(text)?;
            let is_violated = violated(&report, model, true).contains(&subject);
            if is_violated != expected {
                return Err(format!("{subject:?} alone, {order:?}: violated is {is_violated}"));
            }
        }
    }
    Ok(())
}

/// Compares many models; of those with nothing wrong, at least so many of a hundred must be reduced.
fn compare_all(sort: Sort, share: u64, count: u64) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let count = number_from("QUOTIENT_RANDOM_ORDERS", count);
    let tally = Tally::default();
    let seeds: Vec<u64> = (first..first + count).collect();
    let wrong: Vec<String> = map_on_workers(2, &seeds, |&seed| {
        let model = sort.model(seed)?;
        compare(&model, sort.deadlock(seed), &tally).err().map(|error| format!("{} {seed}: {error}", sort.name()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let Tally { models, reduced, states, stored, unpassed, violated } = tally;
    let [models, reduced, states, stored, unpassed, violated] =
        [models, reduced, states, stored, unpassed, violated].map(|it| it.into_inner());
    let summary = format!(
        "{}: {models} models, {reduced} reduced, {violated} wrong, {stored} of {states} states, {unpassed} if none \
         are passed through",
        sort.name()
    );
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{summary}");
    }
    assert!(reduced * 100 >= share * (models - violated), "{summary}");
}

#[test]
fn loosely_coupled_processes() {
    compare_all(Sort::Loose, 40, 400);
}

#[test]
fn random_murphi_programs() {
    compare_all(Sort::Murphi, 0, 100);
}

#[test]
fn random_promela_programs() {
    compare_all(Sort::Promela, 10, 40);
}

#[test]
fn random_dve_systems() {
    compare_all(Sort::Dve, 10, 150);
}

#[test]
fn random_csp_programs() {
    compare_all(Sort::Csp, 0, 40);
}

#[test]
fn random_b_machines() {
    compare_all(Sort::B, 0, 12);
}
