//! The process that an instance of a rule belongs to, and the fairness that a language guarantees to that rule.
//!
//! Neither changes which steps are possible. Both determine which infinite runs count, and the meaning of events and
//! `_last`.

use crate::behaviour::EventLabel;

/// The process that the instances of a rule belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Owner {
    /// None: the language has no processes, or no process takes this step.
    #[default]
    None,
    /// The process with this number. If several take part in a step, it is the active one: the sender of a rendezvous.
    Process(Number),
}

/// The number of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// Always this one.
    Constant(i64),
    /// The value of a parameter of the rule, by position. Parameters that are numbers of processes are scalar, and only
    /// scalar ones come before them.
    Parameter(usize),
}

impl Number {
    /// The number in an instance of the rule with these arguments.
    pub fn of(self, arguments: &[i64]) -> i64 {
        match self {
            Self::Constant(number) => number,
            Self::Parameter(position) => arguments.get(position).copied().unwrap_or_default(),
        }
    }
}

/// The fairness a language guarantees to a rule that is enabled again and again. Each instance counts separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fairness {
    /// None: an infinite run may neglect it forever.
    #[default]
    None,
    /// An instance that is continuously enabled from some point on fires infinitely often.
    Weak,
    /// An instance that is enabled infinitely often fires infinitely often.
    Strong,
}

/// What happens in the steps of a rule, and who takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Participation {
    /// The event, whose values are evaluated before the step. Fairness of the rule is fairness of its event.
    pub event: EventLabel,
    /// The numbers of the processes that take part.
    pub processes: Vec<i64>,
}
