//! Run-time errors of a model, which end a run and are shown with a trace, and the limits of the interpreter.

use crate::diagnostics::Span;
use crate::index::PropertyId;

/// A run-time error of the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The kind of error.
    pub kind: FaultKind,
    /// The statement, guard or property in which it occurred.
    pub span: Span,
    /// The message, in terms of the source.
    pub message: String,
}

/// The kinds of run-time errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An undefined scalar place was read.
    UndefinedRead,
    /// A value outside the range of its type was stored.
    OutOfRange,
    /// An array or multiset was indexed out of range.
    IndexOutOfRange,
    /// A division or remainder by zero.
    DivisionByZero,
    /// A result that 64 bits cannot hold.
    Overflow,
    /// An assertion statement failed.
    Assertion,
    /// An assertion statement that represents an invariant failed: the step leads to a state in which the invariant
    /// does not hold. Not a run-time error, but a violation of that property.
    Invariant(PropertyId),
    /// An error statement was reached.
    Error,
    /// A function with a result ended without one.
    MissingReturn,
    /// A range with a step of zero, or away from its end.
    BadStep,
    /// An element was added to a full multiset.
    MultisetFull,
    /// An absent element of a multiset was used.
    AbsentElement,
    /// The limit on loop iterations or nested calls was exceeded, or the model leaves the assumptions made about it.
    /// Not an error of the model: the result of the step is unknown.
    Exhausted,
}
