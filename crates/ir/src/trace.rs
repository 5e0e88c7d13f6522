//! Traces: runs of a model that end in a violation or in a cycle, and their replay with the reference
//! interpreter.

use crate::fault::Fault;
use crate::index::{PropertyId, SlotId, TableIndex};
use crate::interpreter::{Interpreter, Outcome};
use crate::layout::Valuation;
use crate::model::{Action, PropertyKind};
use crate::violation::{DeadlockMode, Violation};

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The action executed.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// The state after it.
    pub state: Valuation,
}

/// A run and the violation at its end. A run with a cycle (a lasso) is infinite: it repeats the cycle forever.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// The steps; the first is a start. None if a start itself fails.
    pub steps: Vec<TraceStep>,
    /// The step that leads to the state in which the cycle begins, if there is a cycle. The cycle consists of all steps
    /// after that one; the last of them leads back to that state.
    pub cycle: Option<usize>,
    /// The violation at the end. `None` for a run that only shows that something can be reached.
    pub violation: Option<Violation>,
}

impl Trace {
    /// A finite run.
    pub fn new(steps: Vec<TraceStep>, violation: Option<Violation>) -> Self {
        Self { steps, cycle: None, violation }
    }
    /// An infinite run: a cycle that begins in the state after the step `begin`. The last step leads back there.
    pub fn lasso(steps: Vec<TraceStep>, begin: usize, violation: Option<Violation>) -> Self {
        Self { steps, cycle: Some(begin), violation }
    }
}

/// Why a trace is not a run of the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// A step is not possible.
    #[error("{message}")]
    Step {
        /// The number of the step, from 0.
        step: usize,
        /// The reason.
        message: String,
    },
    /// The claimed violation is not one.
    #[error("{message}")]
    Violation {
        /// The reason.
        message: String,
    },
    /// The cycle begins at a step that does not exist.
    #[error("the cycle begins at step {begin}, counted from 0, but there are {steps} steps")]
    CycleOutOfRange {
        /// The step at which the cycle is claimed to begin.
        begin: usize,
        /// The number of steps.
        steps: usize,
    },
    /// The cycle begins at the last step, so it is empty.
    #[error("the cycle that begins at step {begin} has no step")]
    EmptyCycle {
        /// The step at which the cycle is claimed to begin.
        begin: usize,
    },
    /// The cycle does not lead back to the state in which it begins.
    #[error("the cycle does not lead back to step {begin}: {message}")]
    OpenCycle {
        /// The step at which the cycle begins.
        begin: usize,
        /// How the states differ.
        message: String,
    },
}

/// Checks every step of a trace and the violation at its end: that each action is possible and leads to the given
/// state, that no state along the way is dropped by an assumption, that one full turn of the cycle leads back to the
/// state in which it begins, and that the claimed violation is one. For a violation of AG EF, only the steps are
/// checked; that nothing else can be reached is for an engine to show.
///
/// # Errors
/// If the trace is not a run of the model or does not end in its violation.
pub fn replay(interpreter: &Interpreter<'_>, trace: &Trace) -> Result<(), ReplayError> {
    let mut before: Option<&Valuation> = None;
    for (number, step) in trace.steps.iter().enumerate() {
        let fail = |message: String| Err(ReplayError::Step { step: number, message });
        match (before, step.action) {
            (None, Action::Start(_)) | (Some(_), Action::Rule(_)) => {}
            (None, Action::Rule(_)) => return fail("the first step is not a start".into()),
            (Some(_), Action::Start(_)) => return fail("a start is not the first step".into()),
        }
        match run(interpreter, step.action, &step.arguments, before) {
            Ok(Some(state)) if state == step.state => before = Some(&step.state),
            Ok(Some(state)) => {
                let difference = difference(interpreter, &state, &step.state);
                return fail(format!("the step leads to a state that {difference}"));
            }
            Ok(None) => return fail("the step is not possible".into()),
            Err(Failure::Fault(fault)) => return fail(format!("the step fails: {fault}")),
            Err(Failure::NoInstance) => return fail("the arguments are not those of an instance".into()),
        }
        let exempt = match &trace.violation {
            Some(Violation::PropertyFault { property, arguments, .. }) if number + 1 == trace.steps.len() => {
                Some((*property, &arguments[..]))
            }
            _ => None,
        };
        if let Err(message) = check_assumptions(interpreter, &step.state, exempt) {
            return fail(message);
        }
    }
    if let Some(begin) = trace.cycle {
        check_cycle(interpreter, &trace.steps, begin)?;
    }
    match &trace.violation {
        Some(Violation::Temporal { property, arguments }) => {
            temporal::check_temporal(interpreter, trace, *property, arguments)
                .map_err(|message| ReplayError::Violation { message })
        }
        Some(violation) => {
            check_violation(interpreter, violation, before).map_err(|message| ReplayError::Violation { message })
        }
        None => Ok(()),
    }
}

/// Checks that the steps after `begin`, each of which was replayed, lead back to their beginning. Steps are functions
/// of the state, so all turns after the first are the same.
fn check_cycle(interpreter: &Interpreter<'_>, steps: &[TraceStep], begin: usize) -> Result<(), ReplayError> {
    let Some(first) = steps.get(begin) else {
        return Err(ReplayError::CycleOutOfRange { begin, steps: steps.len() });
    };
    match steps[begin + 1..].last() {
        None => Err(ReplayError::EmptyCycle { begin }),
        Some(last) if last.state == first.state => Ok(()),
        Some(last) => {
            let difference = difference(interpreter, &first.state, &last.state);
            Err(ReplayError::OpenCycle { begin, message: format!("the last state {difference}") })
        }
    }
}

/// Why an action leads to no state.
enum Failure {
    Fault(Fault),
    NoInstance,
}

/// The state that an action leads to; none if its guard is false or an assume statement drops it.
fn run(
    interpreter: &Interpreter<'_>,
    action: Action,
    arguments: &[i64],
    before: Option<&Valuation>,
) -> Result<Option<Valuation>, Failure> {
    let model = interpreter.model();
    let parameters = match action {
        Action::Start(start) => model.starts.get(start).map(|start| &start.parameters),
        Action::Rule(rule) => model.rules.get(rule).map(|rule| &rule.parameters),
    };
    if !parameters.is_some_and(|parameters| interpreter.is_instance(parameters, arguments)) {
        return Err(Failure::NoInstance);
    }
    let outcome = match (action, before) {
        (Action::Start(start), None) => interpreter.run_start(start, arguments),
        (Action::Rule(rule), Some(state)) => match interpreter.enabled(rule, arguments, state) {
            Ok(true) => interpreter.fire(rule, arguments, state),
            Ok(false) => return Ok(None),
            Err(fault) => return Err(Failure::Fault(fault)),
        },
        (Action::Start(_), Some(_)) | (Action::Rule(_), None) => return Ok(None),
    };
    match outcome {
        Outcome::Next { state, .. } => Ok(Some(state)),
        Outcome::Pruned => Ok(None),
        Outcome::Fault(fault) => Err(Failure::Fault(fault)),
    }
}

/// How a claimed state differs from the one reached.
fn difference(interpreter: &Interpreter<'_>, reached: &Valuation, claimed: &Valuation) -> String {
    if reached.0.len() != claimed.0.len() {
        return format!("has {} cells instead of {}", claimed.0.len(), reached.0.len());
    }
    let names = changed_slots(reached, claimed).into_iter().take(5);
    let names: Vec<String> = names.map(|slot| format!("`{}`", interpreter.layout().slots[slot].name)).collect();
    format!("differs in {}", names.join(", "))
}

/// Checks that no assumption drops a state. A property fault claimed for an assumption ends the check there, since a
/// search would stop there, too.
fn check_assumptions(
    interpreter: &Interpreter<'_>,
    state: &Valuation,
    exempt: Option<(PropertyId, &[i64])>,
) -> Result<(), String> {
    for (property, entry) in interpreter.model().properties.iter_enumerated() {
        if entry.kind != PropertyKind::Assumption {
            continue;
        }
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            if exempt == Some((property, &arguments[..])) {
                return Ok(());
            }
            match interpreter.holds(property, &arguments, state) {
                Ok(true) => {}
                Ok(false) => return Err("an assumption drops the state".into()),
                Err(fault) => return Err(format!("an assumption fails: {fault}")),
            }
        }
    }
    Ok(())
}

/// Checks the claimed violation in the last state (none before the first start).
///
/// # Errors
/// Why it is not there.
pub fn check_violation(
    interpreter: &Interpreter<'_>,
    violation: &Violation,
    last: Option<&Valuation>,
) -> Result<(), String> {
    match (violation, last) {
        (Violation::Fault { action, arguments, fault }, _) => match run(interpreter, *action, arguments, last) {
            Err(Failure::Fault(found)) => same_fault(&found, fault),
            Err(Failure::NoInstance) => Err("the arguments are not those of an instance".into()),
            Ok(_) => Err("the action does not go wrong".into()),
        },
        (_, None) => Err("there is no state to violate anything".into()),
        (Violation::Property { property, arguments }, Some(state)) => {
            let kind = check_instance(interpreter, *property, arguments)?;
            match (kind, interpreter.holds(*property, arguments, state)) {
                (PropertyKind::Invariant, _) if interpreter.passes(state) => {
                    Err("no property is about the last state, which is passed through".into())
                }
                (PropertyKind::Invariant, Ok(false)) => Ok(()),
                (PropertyKind::Invariant, Ok(true)) => Err("the property holds in the last state".into()),
                (PropertyKind::Invariant, Err(fault)) => Err(format!("the property fails: {fault}")),
                _ => Err("no single state violates a property of this kind".into()),
            }
        }
        (Violation::PropertyFault { property, arguments, fault }, Some(state)) => {
            check_instance(interpreter, *property, arguments)?;
            match interpreter.holds(*property, arguments, state) {
                Ok(_) => Err("the property does not go wrong".into()),
                Err(found) => same_fault(&found, fault),
            }
        }
        (Violation::Unreachable { property, arguments }, Some(_)) => {
            match check_instance(interpreter, *property, arguments)? {
                PropertyKind::AlwaysReachable => Ok(()),
                _ => Err("the property does not claim that something can always be reached".into()),
            }
        }
        (Violation::Deadlock(mode), Some(state)) => check_deadlock(interpreter, *mode, state),
        (Violation::Temporal { .. }, Some(_)) => Err("no single state violates a temporal property".into()),
    }
}

/// Checks that a property exists and has such an instance, and returns its kind.
fn check_instance(
    interpreter: &Interpreter<'_>,
    property: PropertyId,
    arguments: &[i64],
) -> Result<PropertyKind, String> {
    match interpreter.model().properties.get(property) {
        Some(entry) if interpreter.is_instance(&entry.parameters, arguments) => Ok(entry.kind),
        _ => Err("the arguments are not those of an instance".into()),
    }
}

/// Messages are for users and may differ between engines; the kind and location must not.
fn same_fault(found: &Fault, claimed: &Fault) -> Result<(), String> {
    if (found.kind, found.span) == (claimed.kind, claimed.span) {
        return Ok(());
    }
    Err(format!("another fault happens: {found}"))
}

fn check_deadlock(interpreter: &Interpreter<'_>, mode: DeadlockMode, state: &Valuation) -> Result<(), String> {
    if mode == DeadlockMode::Off {
        return Err("nothing is a deadlock".into());
    }
    for (rule, entry) in interpreter.model().rules.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            match run(interpreter, Action::Rule(rule), &arguments, Some(state)) {
                Ok(None) => {}
                Ok(Some(next)) if mode == DeadlockMode::Stuttering && next == *state => {}
                Ok(Some(_)) => return Err("a rule can leave the last state".into()),
                Err(Failure::Fault(fault)) => return Err(format!("a rule fails in the last state: {fault}")),
                Err(Failure::NoInstance) => unreachable!("these are the instances"),
            }
        }
    }
    Ok(())
}

/// The slots in which two states differ, in order.
pub fn changed_slots(before: &Valuation, after: &Valuation) -> Vec<SlotId> {
    let cells = before.0.iter().zip(&after.0).enumerate();
    cells.filter(|(_, (before, after))| before != after).map(|(position, _)| SlotId::from_position(position)).collect()
}

mod behaviour;
mod temporal;

#[cfg(test)]
mod tests;
