//! Concrete runs from stored states. The store keeps only the parent of each state; the instance that led from one to
//! the other is found again by firing them all. In a quotient the stored states are representatives: the run goes
//! through concrete states of the model, so process identities stay the same from start to end. Transient states
//! between two stored ones are found again and are part of the run.

use std::ops::ControlFlow;

use quotient_ir::{Action, Fault, FaultKind, Interpreter, Trace, TraceStep, Violation, replay};

use rustc_hash::FxHashSet;

use crate::exploration::Finding;
use crate::shards::Shards;
use quotient_search::{EngineError, Event, Instance, SearchSpace};

/// The run of a finding, replayed with the reference interpreter.
///
/// # Errors
/// If the run cannot be rebuilt or the reference interpreter disagrees with it.
pub(crate) fn rebuild<S: SearchSpace>(
    system: &S,
    store: &Shards,
    finding: &Finding,
    interpreter: &Interpreter<'_>,
) -> Result<Trace, EngineError> {
    let mut scratch = system.scratch();
    let mut reached = store.path(finding.origin).map_err(|error| EngineError::Disk(error.to_string()))?;
    reached.extend(finding.state.clone());
    let mut path: Vec<Vec<u64>> = Vec::with_capacity(reached.len());
    for state in reached {
        if let Some(before) = path.last() {
            let passed = system.passed_between(&mut scratch, before, &state);
            path.extend(passed);
        }
        path.push(state);
    }
    let mut steps = Vec::with_capacity(path.len());
    let mut before: Option<Vec<u64>> = None;
    for stored in &path {
        let (more, state) = find_steps(system, &mut scratch, before.as_deref(), stored, interpreter, &|_| true)?;
        steps.extend(more);
        before = Some(state);
    }
    // In a quotient the violation of the representative, and of one from a checkpoint only its kind is known.
    let is_known = finding.kept_kind.is_none() && path.last() == before.as_ref();
    let violation = match is_known {
        true => finding.violation.clone(),
        false => translate(system, &mut scratch, &finding.violation, before.as_deref())?,
    };
    let trace = Trace::new(steps, Some(violation));
    replay(interpreter, &trace)?;
    Ok(trace)
}

/// How alike a violation is that is the same in all that symmetries preserve.
const MOST_ALIKE: u32 = 2;

/// A state on a path, and how it was reached.
struct Reached {
    state: Vec<u64>,
    action: Action,
    arguments: Vec<i64>,
    /// The previous one; none at the beginning of the path.
    from: Option<usize>,
}

/// The shortest path from a state of the model (or from nothing), through transient states, to a state that a stored
/// state represents, by a last step that fits; and that state.
pub fn find_steps<S: SearchSpace>(
    system: &S,
    scratch: &mut S::Scratch,
    before: Option<&[u64]>,
    stored: &[u64],
    interpreter: &Interpreter<'_>,
    fits: &dyn Fn(Instance<'_>) -> bool,
) -> Result<(Vec<TraceStep>, Vec<u64>), EngineError> {
    // Representatives need working memory that is not in use while successors are enumerated.
    let mut representing = system.scratch();
    let mut wanted = stored.to_vec();
    system.identify(&mut representing, &mut wanted);
    let mut representative = Vec::new();
    let mut passed: Vec<Reached> = Vec::new();
    let mut seen: FxHashSet<Vec<u64>> = FxHashSet::default();
    let mut expanded = None;
    let last = loop {
        let mut found = None;
        let from: Option<Vec<u64>> = expanded.map(|number: usize| passed[number].state.clone());
        let mut visit = |instance: Instance<'_>, event: Event<'_>| {
            if let Event::Next { state, .. } = event {
                let reached = || Reached {
                    state: state.to_vec(),
                    action: instance.action,
                    arguments: instance.arguments.to_vec(),
                    from: expanded,
                };
                representative.clear();
                representative.extend_from_slice(state);
                system.identify(&mut representing, &mut representative);
                if representative == wanted && fits(instance) {
                    found = Some(reached());
                    return ControlFlow::Break(());
                }
                if system.is_passed_through(&mut representing, state) && seen.insert(state.to_vec()) {
                    passed.push(reached());
                }
            }
            ControlFlow::Continue(())
        };
        match from.as_deref().or(before) {
            None => system.first_steps(scratch, &mut visit),
            Some(state) => system.steps(scratch, state, &mut visit),
        }
        if let Some(found) = found {
            break found;
        }
        let next = expanded.map_or(0, |number| number + 1);
        if next == passed.len() {
            return Err(EngineError::Rebuild("no action leads from one state of it to the next"));
        }
        expanded = Some(next);
    };
    let state = last.state.clone();
    let mut steps = Vec::new();
    let mut from = last.from;
    let mut note = |Reached { state, action, arguments, .. }: &Reached| {
        let (action, arguments) = (*action, arguments.clone());
        steps.push(TraceStep { action, arguments, state: interpreter.layout().unpack(state) });
    };
    note(&last);
    while let Some(number) = from {
        note(&passed[number]);
        from = passed[number].from;
    }
    steps.reverse();
    Ok((steps, state))
}

/// What is wrong in a state of the model (or, without one, when it starts), given what is wrong in its
/// representative. The two are equal up to a symmetry, which may change the values of parameters, whether a property
/// is false or has no value, and the place of a fault. Of several, the one most like the given one is taken.
fn translate<S: SearchSpace>(
    system: &S,
    scratch: &mut S::Scratch,
    violation: &Violation,
    state: Option<&[u64]>,
) -> Result<Violation, EngineError> {
    let mut best: Option<(u32, Violation)> = None;
    let mut consider = |likeness: u32, found: Violation| {
        if best.as_ref().is_none_or(|&(known, _)| known < likeness) {
            best = Some((likeness, found));
        }
        if likeness == MOST_ALIKE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match (violation, state) {
        (Violation::Deadlock(_) | Violation::Unreachable { .. } | Violation::Temporal { .. }, _) => {
            return Ok(violation.clone());
        }
        (Violation::Property { property, .. } | Violation::PropertyFault { property, .. }, Some(state)) => {
            let property = *property;
            let is_fault = violation.fault().is_some();
            let likeness = |is_alike| if is_alike { MOST_ALIKE } else { 0 };
            system.evaluate(scratch, property, state, &mut |arguments, result| {
                let arguments = arguments.to_vec();
                match result {
                    Ok(false) => consider(likeness(!is_fault), Violation::Property { property, arguments }),
                    Err(fault) if fault.kind != FaultKind::Exhausted => {
                        consider(likeness(is_fault), Violation::PropertyFault { property, arguments, fault })
                    }
                    _ => ControlFlow::Continue(()),
                }
            });
        }
        (Violation::Property { .. } | Violation::PropertyFault { .. }, None) => {}
        (Violation::Fault { fault: claimed, .. }, state) => {
            let invariant = |fault: &Fault| match fault.kind {
                FaultKind::Invariant(property) => Some(property),
                _ => None,
            };
            let mut visit = |instance: Instance<'_>, event: Event<'_>| match event {
                // An unknown result is not a violation.
                Event::Fault(fault) if fault.kind != FaultKind::Exhausted => {
                    let likeness = match () {
                        () if (fault.kind, fault.span) == (claimed.kind, claimed.span) => MOST_ALIKE,
                        () => u32::from(invariant(&fault) == invariant(claimed)),
                    };
                    let Instance { action, arguments } = instance;
                    consider(likeness, Violation::Fault { action, arguments: arguments.to_vec(), fault })
                }
                _ => ControlFlow::Continue(()),
            };
            match state {
                Some(state) => system.steps(scratch, state, &mut visit),
                None => system.first_steps(scratch, &mut visit),
            }
        }
    }
    best.map(|(_, found)| found).ok_or(EngineError::Rebuild("its last state shows no violation"))
}
