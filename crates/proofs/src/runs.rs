//! From what a solver finds to a run of the model: the reference interpreter takes the steps, looks at what is wrong at the
//! end, and replays the run.

use quotient_ir::{
    Action, Fault, Interpreter, Outcome, PropertyId, PropertyKind, Trace, TraceStep, Valuation, Violation, replay,
};

use crate::formula::Bit;
use crate::system::{System, Taken, Wrong};
use quotient_search::{EngineError, SearchOptions};

/// The instances of a run to something wrong, starting with an initial-state program, and the values of the inputs in the
/// last state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) steps: Vec<Taken>,
    pub(crate) inputs: Vec<(Bit, bool)>,
}

/// The run that was found, replayed.
///
/// # Errors
/// If the reference interpreter does not confirm it, which is a defect of this program.
pub(crate) fn trace(
    system: &System,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    found: &Found,
) -> Result<Trace, EngineError> {
    let mut steps: Vec<TraceStep> = Vec::with_capacity(found.steps.len());
    for (action, arguments) in &found.steps {
        let before = steps.last().map(|step| &step.state);
        let outcome = match (action, before) {
            (Action::Start(start), None) => interpreter.run_start(*start, arguments),
            (Action::Rule(rule), Some(state)) => interpreter.fire(*rule, arguments, state),
            _ => return Err(EngineError::Rebuild("a start is not the first step, or the first step is no start")),
        };
        let Outcome::Next { state, .. } = outcome else {
            return Err(EngineError::Rebuild("an action does not lead to a state"));
        };
        steps.push(TraceStep { action: *action, arguments: arguments.clone(), state });
    }
    let violation = violation(system, interpreter, options, steps.last().map(|step| &step.state), found)
        .ok_or(EngineError::Rebuild("its last state shows no violation"))?;
    let trace = Trace::new(steps, Some(violation));
    replay(interpreter, &trace)?;
    Ok(trace)
}

/// What is wrong in the last state, or at the start.
fn violation(
    system: &System,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    last: Option<&Valuation>,
    found: &Found,
) -> Option<Violation> {
    let values = system.values(last, &found.inputs)?;
    system.wrong(&values).find_map(|(wrong, taken)| match (wrong, last) {
        (Wrong::Property(property), Some(state)) => failure(interpreter, property, state),
        (Wrong::Step(_), last) => {
            let (action, arguments) = taken?;
            let fault = fault(interpreter, action, &arguments, last)?;
            Some(Violation::Fault { action, arguments, fault })
        }
        (Wrong::Deadlock, Some(_)) => Some(Violation::Deadlock(options.deadlock)),
        (_, None) => None,
    })
}

/// The first instance of a property that is false or has no value in a state.
fn failure(interpreter: &Interpreter<'_>, property: PropertyId, state: &Valuation) -> Option<Violation> {
    let entry = &interpreter.model().properties[property];
    let is_invariant = entry.kind == PropertyKind::Invariant;
    interpreter.instances(&entry.parameters, &entry.locals).find_map(|arguments| {
        match interpreter.holds(property, &arguments, state) {
            Ok(false) if is_invariant => Some(Violation::Property { property, arguments }),
            Ok(_) => None,
            Err(fault) => Some(Violation::PropertyFault { property, arguments, fault }),
        }
    })
}

/// The run-time error of an instance.
fn fault(
    interpreter: &Interpreter<'_>,
    action: Action,
    arguments: &[i64],
    before: Option<&Valuation>,
) -> Option<Fault> {
    let outcome = match (action, before) {
        (Action::Start(start), None) => interpreter.run_start(start, arguments),
        (Action::Rule(rule), Some(state)) => match interpreter.enabled(rule, arguments, state) {
            Ok(_) => interpreter.fire(rule, arguments, state),
            Err(fault) => return Some(fault),
        },
        _ => return None,
    };
    if let Outcome::Fault(fault) = outcome { Some(fault) } else { None }
}
