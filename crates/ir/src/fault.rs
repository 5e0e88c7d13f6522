//! What can go wrong while a model runs: the errors of the model itself, which end a run and are
//! shown with a trace, and the budgets of the interpreter.

use crate::diagnostics::Span;
use crate::index::PropertyId;

/// An error of the model met while it runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The statement, guard or property it went wrong in.
    pub span: Span,
    /// What to say, in terms of the source.
    pub message: String,
}

/// The ways a step can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A scalar place without a value was read.
    UndefinedRead,
    /// A value was stored where its type has no such value.
    OutOfRange,
    /// An array or multiset was indexed by what is no index of it.
    IndexOutOfRange,
    /// A division or remainder by zero.
    DivisionByZero,
    /// A result that 64 bits cannot hold.
    Overflow,
    /// An assertion statement failed.
    Assertion,
    /// An assertion statement failed that stands for an invariant: the step leads to a state in which it does
    /// not hold. Not an error of the model, but a violation of that property.
    Invariant(PropertyId),
    /// An error statement was reached.
    Error,
    /// A function with a result ended without one.
    MissingReturn,
    /// A range of steps of zero, or away from its end.
    BadStep,
    /// An element was added to a full multiset.
    MultisetFull,
    /// An absent element of a multiset was used.
    AbsentElement,
    /// The budget of loop iterations or of nested calls is used up, or the model leaves what was
    /// assumed of it. Not an error of the model: what would come of the step is not known.
    Exhausted,
}
