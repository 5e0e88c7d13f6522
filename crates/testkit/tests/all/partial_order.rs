//! Searches reduced by partial order against searches of all states: the same verdicts, deadlocks and errors on random
//! models of each language, with and without symmetries, in both orders, on one thread and on two.
//!
//! `QUOTIENT_RANDOM_ORDERS` sets the number of models of each sort, `QUOTIENT_RANDOM_SEED` the first seed. With
//! `QUOTIENT_ONE_WAY=1` each model is small and searched in one way, which differs from seed to seed: so many more are tried.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quotient_explicit::check;
use quotient_ir::{Budget, DeadlockMode, Interrupt, Layout, Model, Property, PropertyId, PropertyKind};
use quotient_relations as relations;
use quotient_representatives::Strategy;
use quotient_search::partial_order::Relations;
use quotient_search::{
    EngineError, Report, SearchOptions, SearchOrder, Silent, StopReason, Subject, Verdict, ViolationLimit,
};
use quotient_symmetry::Preserved;
use quotient_systems::SymmetrySource;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_models::Sort;
use quotient_testkit::search::plan;
use quotient_testkit::switches::number_from;

/// Larger state spaces are left out.
const LARGEST: u64 = 20_000;

/// The largest ones where there are very many models.
const LARGEST_OF_MANY: u64 = 2_000;

/// The work for the relations of one of these, in nodes of functions.
const WORK_OF_MANY: u64 = 300_000;

/// The work for its symmetries: the order of some groups takes minutes.
const DETECTION_OF_MANY: u64 = 2_000_000;

/// The ways to search: the order, whether symmetries are used, and the number of threads.
const WAYS: [(SearchOrder, bool, u32); 6] = [
    (SearchOrder::BreadthFirst, false, 1),
    (SearchOrder::BreadthFirst, false, 2),
    (SearchOrder::BreadthFirst, true, 1),
    (SearchOrder::BreadthFirst, true, 2),
    (SearchOrder::DepthFirst, false, 1),
    (SearchOrder::DepthFirst, true, 1),
];

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

/// The properties that are compared.
fn kept_properties(model: &Model) -> Vec<PropertyId> {
    let is_kept = |property: &Property| matches!(property.kind, PropertyKind::Invariant | PropertyKind::Cover);
    model.properties.iter_enumerated().filter(|(_, property)| is_kept(property)).map(|(id, _)| id).collect()
}

/// Compares all searches of a model with the whole one.
fn compare(model: &Model, deadlock: DeadlockMode, tally: &Tally) -> Result<(), String> {
    let text = |error: EngineError| error.to_string();
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let kept = kept_properties(model);
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
    let relations = match relations::relations(model, &layout, &everything, &Interrupt::new()) {
        Ok(relations) => Arc::new(relations),
        Err(_) => return Ok(()),
    };
    let storing_all = Arc::new(Relations::clone(&relations).storing_all());
    tally.models.fetch_add(1, Ordering::Relaxed);
    let symmetric = plan(model, &layout, &kept, SymmetrySource::Detected, Some(Strategy::Canonical)).map_err(text)?;
    for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
        let mut stored = Vec::new();
        for (_, symmetries, threads) in WAYS.into_iter().filter(|way| way.0 == order) {
            let plan = symmetries.then_some(&symmetric);
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
                    let any_order = SearchOptions { ordered_states: 1, ..options };
                    let other = check(model, &layout, plan, &any_order, &mut Silent).map_err(text)?;
                    if (other.states, other.transitions, other.depth)
                        != (report.states, report.transitions, report.depth)
                    {
                        return Err(format!("{name}: {} states in any order, {} in one", other.states, report.states));
                    }
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
        let Ok(relations) = relations::relations(model, &layout, &options, &Interrupt::new()) else { continue };
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

/// Compares a search of a small model with the whole one: of everything, or of one subject alone, in one way.
fn compare_one(model: &Model, deadlock: DeadlockMode, seed: u64, tally: &Tally) -> Result<(), String> {
    let text = |error: EngineError| error.to_string();
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let kept = kept_properties(model);
    // Numbers below 12 decide which sort of model it is.
    let choice = (seed / 12) as usize;
    let (order, symmetries, threads) = WAYS[choice % WAYS.len()];
    let choice = choice / WAYS.len();
    let alone = match choice % 2 {
        0 => None,
        _ => Some(kept.get(choice / 2 % (kept.len() + 1)).map_or(Subject::Deadlock, |&id| Subject::Property(id))),
    };
    let (properties, deadlock) = match alone {
        None => (kept, deadlock),
        Some(Subject::Property(id)) => (vec![id], DeadlockMode::Off),
        Some(_) => (Vec::new(), deadlock),
    };
    let asked = SearchOptions {
        properties: Some(properties.clone()),
        deadlock,
        errors: alone.is_none(),
        max_states: Some(LARGEST_OF_MANY),
        ..SearchOptions::default()
    };
    let first = check(model, &layout, None, &asked, &mut Silent).map_err(text)?;
    if first.stop_reason.as_ref().is_some_and(|reason| *reason != StopReason::Violation) {
        return Ok(());
    }
    let is_wrong = !violated(&first, model, false).is_empty();
    let mut all = violated(&first, model, true);
    if is_wrong {
        let every = SearchOptions { violations: ViolationLimit::All, ..asked.clone() };
        let every = check(model, &layout, None, &every, &mut Silent).map_err(text)?;
        if every.stop_reason.as_ref().is_some_and(|reason| *reason != StopReason::Violation) {
            return Ok(());
        }
        all.extend(violated(&every, model, true));
    }
    let budget = Budget::new(WORK_OF_MANY, Interrupt::new());
    let Ok(relations) = relations::relations_within(&budget, model, &layout, &asked) else { return Ok(()) };
    let plan = match symmetries {
        true => {
            let (preserved, strategy) = (Preserved::Properties(&properties), Some(Strategy::Canonical));
            let budget = Budget::new(DETECTION_OF_MANY, Interrupt::new());
            match quotient_systems::plan(model, &layout, preserved, SymmetrySource::Detected, strategy, &budget) {
                Ok(plan) => Some(plan),
                Err(EngineError::GaveUp(_)) => return Ok(()),
                Err(error) => return Err(text(error)),
            }
        }
        false => None,
    };
    let options = SearchOptions { order, threads, partial_order: Some(Arc::new(relations)), ..asked };
    let report = check(model, &layout, plan.as_ref(), &options, &mut Silent).map_err(text)?;
    // Where errors are not asked for, one that comes first ends the search, and nothing is decided.
    if alone.is_some() && matches!(report.stop_reason, Some(StopReason::Fault(_))) {
        return Ok(());
    }
    tally.models.fetch_add(1, Ordering::Relaxed);
    let found = violated(&report, model, true);
    let way = format!("{order:?}, symmetries {symmetries}, {threads} threads, alone {alone:?}");
    if !is_wrong {
        if report.stop_reason.is_some() || found != all || report.states > first.states {
            return Err(format!("{way}: {found:?}, {} states instead of {all:?}, {}", report.states, first.states));
        }
        tally.states.fetch_add(first.states, Ordering::Relaxed);
        tally.stored.fetch_add(report.states, Ordering::Relaxed);
        tally.reduced.fetch_add(u64::from(report.states < first.states), Ordering::Relaxed);
        return Ok(());
    }
    tally.violated.fetch_add(1, Ordering::Relaxed);
    let is_right = !violated(&report, model, false).is_empty() && found.iter().all(|subject| all.contains(subject));
    is_right.then_some(()).ok_or_else(|| format!("{way}: {found:?} instead of some of {all:?}"))
}

/// Compares many models; of those with nothing wrong, at least so many of a hundred must be reduced.
fn compare_all(sort: Sort, share: u64, count: u64) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let count = number_from("QUOTIENT_RANDOM_ORDERS", count);
    let one_way = number_from("QUOTIENT_ONE_WAY", 0) != 0;
    let tally = Tally::default();
    let seeds: Vec<u64> = (first..first + count).collect();
    let wrong: Vec<String> = map_on_workers(2, &seeds, |&seed| {
        let model = sort.model(seed)?;
        let deadlock = sort.deadlock(seed);
        let compared = match one_way {
            true => compare_one(&model, deadlock, seed, &tally),
            false => compare(&model, deadlock, &tally),
        };
        compared.err().map(|error| format!("{} {seed}: {error}", sort.name()))
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
    // Symmetries make models smaller, too, where each is searched in one way.
    assert!(one_way || reduced * 100 >= share * (models - violated), "{summary}");
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
