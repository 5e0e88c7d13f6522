//! Who takes part in the steps of a model of communicating processes, and what they exchange: what a message sequence
//! chart of a run shows. It has no effect on the meaning of a model.

use crate::behaviour::EventLabel;

/// The processes of a model and their exchanges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchanges {
    /// The names of the processes.
    pub processes: Vec<String>,
    /// For each rule, what its steps are.
    pub steps: Vec<ChartStep>,
}

/// The steps of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartStep {
    /// The numbers of the processes that take part; of a message, the sender and then the receiver.
    pub participants: Vec<usize>,
    /// The event.
    pub label: EventLabel,
    /// What happens to a message.
    pub exchange: Exchange,
}

/// What a step does with a message. A channel is known by its name and its indices, which come first in the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// There is none.
    Nothing,
    /// It goes from a process to another.
    Passed,
    /// It is put into the buffer of a channel with so many indices.
    Sent(usize),
    /// It is the first one of the buffer of a channel with so many indices.
    Received(usize),
}
