//! What can be wrong at the end of a run.

use crate::fault::Fault;
use crate::index::PropertyId;
use crate::model::Action;

/// A violation at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A property does not hold in the last state.
    Property {
        /// The property.
        property: PropertyId,
        /// The cells of its parameters.
        arguments: Vec<i64>,
    },
    /// The evaluation of a property fails in the last state.
    PropertyFault {
        /// The property.
        property: PropertyId,
        /// The cells of its parameters.
        arguments: Vec<i64>,
        /// The run-time error.
        fault: Fault,
    },
    /// The guard or body of an action causes a run-time error in the last state.
    Fault {
        /// The action.
        action: Action,
        /// The cells of its parameters.
        arguments: Vec<i64>,
        /// The run-time error.
        fault: Fault,
    },
    /// The last state is a deadlock.
    Deadlock(DeadlockMode),
    /// AG EF is violated: from the last state no state that satisfies the property can be reached.
    Unreachable {
        /// The property.
        property: PropertyId,
        /// The cells of its parameters.
        arguments: Vec<i64>,
    },
    /// The run, which is infinite or stays in its last state, does not satisfy a temporal property.
    Temporal {
        /// The property.
        property: PropertyId,
        /// The cells of its parameters.
        arguments: Vec<i64>,
    },
}

impl Violation {
    /// The run-time error, if it is one.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Fault { fault, .. } | Self::PropertyFault { fault, .. } => Some(fault),
            Self::Property { .. } | Self::Deadlock(_) | Self::Unreachable { .. } | Self::Temporal { .. } => None,
        }
    }
}

/// What counts as a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeadlockMode {
    /// Nothing.
    Off,
    /// A state in which no rule can fire.
    Stuck,
    /// A state in which no rule can fire, or all enabled rules lead back to it.
    #[default]
    Stuttering,
}
