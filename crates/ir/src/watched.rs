//! An expression of the source that is evaluated in states. It has no effect on the meaning of a model.

use crate::index::FunctionId;
use crate::notation::Notation;

/// An expression to evaluate in states.
#[derive(Clone, Debug)]
pub struct Watched {
    /// A function without parameters that returns its value. It fails where the expression has no value.
    pub function: FunctionId,
    /// How its value is shown.
    pub display: ValueDisplay,
}

/// How the cells of a value are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueDisplay {
    /// By their type.
    Cells,
    /// By a notation of the language.
    Notation(Notation),
    /// As a queue with its messages: a record of its length and an array of records; or an array of queues.
    Queue,
}
