//! Compares a reduced search with the unreduced one: the verdicts agree, every state's representative is stored, every
//! representative is reachable, and orbits have the sizes that were counted.

use num_bigint::BigUint;
use quotient_ir::Interpreter;
use quotient_representatives::Workspace;

use crate::exploration::Exploration;
use crate::judging::{Explorer, search_and_judge};
use crate::shards::Shards;
use crate::store::{Entries, NO_PARENT, Probe, StateNumber, Store};
use quotient_search::words::Hash;
use quotient_search::{
    Batches, CrossCheck, EngineError, Extent, Observer, Report, RuleFirings, SearchOptions, StopReason,
};
use quotient_systems::{PassingSystem, Reduction, ReductionPlan};

/// Runs the unreduced search and compares.
///
/// # Errors
/// If something differs.
pub(crate) fn compare<S: Batches>(
    explorer: &dyn Explorer,
    system: &S,
    interpreter: &Interpreter<'_>,
    plan: &ReductionPlan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
    (report, exploration): (&Report, &Exploration),
) -> Result<CrossCheck, EngineError> {
    let options = &SearchOptions { checkpoint: None, resume: None, ..options.clone() };
    let system = &PassingSystem::new(system, interpreter, options);
    let (whole, all) = search_and_judge(explorer, system, interpreter, options, None, observer, None)?;
    let extent = match unfinished(report, &whole) {
        Some(reason) => Extent::Nothing(reason),
        None => {
            compare_verdicts(report, &whole)?;
            match (&plan.reduction, is_complete(report) && is_complete(&whole)) {
                (_, false) => Extent::Verdicts,
                (None, true) => Extent::Everything,
                (Some(reduction), true) => {
                    compare_states(interpreter, reduction, report, &exploration.store, &all.store)?;
                    compare_firings(report, &whole)?;
                    Extent::Everything
                }
            }
        }
    };
    Ok(CrossCheck { whole: Box::new(whole), extent })
}

/// Whether a search visited everything that it was to visit.
fn is_complete(report: &Report) -> bool {
    matches!(report.stop_reason, None | Some(StopReason::Constraint(_)))
}

/// Why one of two searches did not finish, if so.
pub fn unfinished(report: &Report, whole: &Report) -> Option<StopReason> {
    let reasons = [report, whole].into_iter().filter_map(|report| report.stop_reason.clone());
    reasons.into_iter().find(|reason| !matches!(reason, StopReason::Violation | StopReason::Constraint(_)))
}

/// The error that says what differs.
///
/// # Errors
/// Always.
pub fn differ<T>(text: String) -> Result<T, EngineError> {
    Err(EngineError::CrossCheck(text))
}

/// Compares the verdicts of a reduced search with those of the unreduced one.
///
/// # Errors
/// If they differ.
pub fn compare_verdicts(report: &Report, whole: &Report) -> Result<(), EngineError> {
    if report.verdict != whole.verdict {
        return differ(format!("the verdicts are {:?} and {:?}", report.verdict, whole.verdict));
    }
    // A search that ends at a violation leaves the rest open, and which violation comes first depends on the order of
    // states.
    if is_complete(report) && is_complete(whole) {
        for (reduced, unreduced) in report.properties.iter().zip(&whole.properties) {
            if (reduced.subject, reduced.verdict) != (unreduced.subject, unreduced.verdict) {
                return differ(format!("on {:?}: {:?} and {:?}", reduced.subject, reduced.verdict, unreduced.verdict));
            }
        }
    }
    Ok(())
}

fn compare_states(
    interpreter: &Interpreter<'_>,
    reduction: &Reduction,
    report: &Report,
    stored: &Shards,
    all: &Shards,
) -> Result<(), EngineError> {
    let exact = reduction.exact();
    let mut workspace = Workspace::default();
    let name = |state: &[u64]| state_text(interpreter, state);
    // One state of each stored orbit, and the number of states found in it.
    let mut orbits = Store::new(interpreter.layout().words(), Entries::Numbers, None);
    let mut found: Vec<u64> = Vec::new();
    for number in stored.numbers() {
        let state = stored.state(number);
        if !all.contains(state) {
            return differ(format!("a representative is not reachable: {}", name(state)));
        }
        let mut image = state.to_vec();
        exact.canonicalize(&mut workspace, &mut image);
        let hash = Hash::of(&image);
        if let Probe::Vacant(position) = orbits.probe(&image, hash) {
            orbits.insert(&image, hash, position, NO_PARENT).map_err(|_| out_of_memory())?;
            found.push(0);
        } else if reduction.exact.is_none() {
            return differ(format!("an orbit has two representatives, one of them {}", name(state)));
        }
    }
    for number in all.numbers() {
        let state = all.state(number);
        let mut image = state.to_vec();
        exact.canonicalize(&mut workspace, &mut image);
        match orbits.find(&image, Hash::of(&image)) {
            Some(orbit) => found[orbit as usize] += 1,
            None => return differ(format!("no representative is stored for {}", name(state))),
        }
    }
    for (orbit, &states) in found.iter().enumerate() {
        let representative = orbits.state(orbit as StateNumber);
        let size = exact.orbit_size(&mut workspace, representative);
        if size != BigUint::from(states) {
            let representative = name(representative);
            return differ(format!("an orbit of {states} states is said to have {size}: that of {representative}"));
        }
    }
    match &report.represented {
        Some(represented) if *represented != BigUint::from(all.len()) => {
            differ(format!("{represented} states represented, {} reachable", all.len()))
        }
        _ => Ok(()),
    }
}

/// Rules that symmetries exchange fire as often in both searches, if both counted that.
fn compare_firings(report: &Report, whole: &Report) -> Result<(), EngineError> {
    let (Some(reduced), Some(unreduced)) = (&report.firings, &whole.firings) else { return Ok(()) };
    for RuleFirings { rules, times } in reduced {
        let of_class = unreduced.iter().filter(|firings| firings.rules.iter().any(|rule| rules.contains(rule)));
        let all: BigUint = of_class.map(|firings| &firings.times).sum();
        if *times != all {
            return differ(format!("{rules:?} fire {times} times in the one and {all} times in the other"));
        }
    }
    Ok(())
}

/// The values of all slots of a state.
pub fn state_text(interpreter: &Interpreter<'_>, state: &[u64]) -> String {
    let layout = interpreter.layout();
    let values = layout.unpack(state);
    let cells = layout.slots.iter_enumerated().map(|(id, slot)| {
        let value = values[id].map_or("undefined".to_owned(), |value| interpreter.model().value_name(slot.ty, value));
        format!("{} = {value}", slot.name)
    });
    cells.collect::<Vec<_>>().join(", ")
}

fn out_of_memory() -> EngineError {
    EngineError::CrossCheck("there is not enough memory to compare them".to_owned())
}
