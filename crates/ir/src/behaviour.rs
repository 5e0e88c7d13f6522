//! Claims about what processes show of themselves: the events of their steps. Refinement, divergence and determinism as
//! in CSP (Roscoe: Understanding Concurrent Systems).

use crate::index::{ExprId, StartId};

/// A claim about the events of a process. The process is what a start begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// The process.
    pub process: StartId,
    /// The claim about it.
    pub claim: BehaviourClaim,
    /// What is visible of each rule, in the order of the rules.
    pub labels: Vec<EventLabel>,
}

/// What is claimed about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BehaviourClaim {
    /// It does only what another process may do.
    Refines {
        /// The other process.
        specification: StartId,
        /// What is compared.
        sense: Refinement,
    },
    /// It cannot take internal steps forever.
    DivergenceFree,
    /// In no state do two steps with the same event, or two internal steps, lead to different states.
    Deterministic,
}

/// What a refinement compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refinement {
    /// The finite sequences of events.
    Traces,
    /// And the sets of events that may be refused after each, in states without an internal step.
    Failures,
    /// And the sequences after which internal steps may go on forever. After such a sequence of the specification,
    /// anything is allowed.
    FailuresDivergences,
}

/// What is visible of the steps of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventLabel {
    /// They are not steps of a process: the state stays as it is.
    Nothing,
    /// They are internal.
    Internal,
    /// An event.
    Event {
        /// What its text begins with.
        name: String,
        /// The values behind its dots, in the state before the step.
        values: Vec<ExprId>,
    },
}

/// The text of all internal steps.
pub const INTERNAL_EVENT: &str = "τ";

/// The text of termination, an event like others.
pub const TERMINATION_EVENT: &str = "✓";

/// The text of an event, such as `push.1` or `c!1.2`. Two events are the same if their texts are.
pub fn event_text(name: &str, values: &[i64]) -> String {
    let mut text = name.to_owned();
    for (position, value) in values.iter().enumerate() {
        // A message: the sign stands for the first dot.
        if position > 0 || !name.ends_with(['!', '?']) {
            text.push('.');
        }
        text.push_str(&value.to_string());
    }
    text
}
