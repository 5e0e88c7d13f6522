//! Statements: the parts of rule bodies, initial-state programs and functions.

use crate::diagnostics::Span;
use crate::expression::{Argument, Iteration};
use crate::index::{ExprId, FunctionId, LocalId, PlaceId, PropertyId, TypeId};

/// A statement and its location in the source. A run-time error in one of its expressions is reported at this location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Its location.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Writes a value to a scalar place. The place is evaluated before the value; a value out of
    /// the place's range is a run-time error.
    Assign {
        /// The target.
        target: PlaceId,
        /// The value.
        value: ExprId,
    },
    /// Copies an array, record or multiset, including undefined cells. The types have equal layouts.
    Copy {
        /// The target.
        target: PlaceId,
        /// The source.
        source: PlaceId,
    },
    /// Sets every cell at a place to the least value of its type; a multiset becomes empty.
    Clear(PlaceId),
    /// Makes every cell at a place undefined; a multiset becomes empty.
    Undefine(PlaceId),
    /// Binds a reference local to a place; the place is evaluated once, here.
    Bind {
        /// The reference local.
        local: LocalId,
        /// The place it denotes from now on.
        place: PlaceId,
    },
    /// Executes the first branch whose condition is true, or else `otherwise`.
    If {
        /// Conditions and statements, in order.
        branches: Vec<(ExprId, Vec<Statement>)>,
        /// The statements if none holds.
        otherwise: Vec<Statement>,
    },
    /// Repeats while a condition holds.
    While {
        /// The condition.
        condition: ExprId,
        /// The statements to repeat.
        body: Vec<Statement>,
    },
    /// Repeats for each value of a range. The loop variable is a fresh copy in every iteration.
    For {
        /// The loop variable.
        local: LocalId,
        /// Its values.
        range: Iteration,
        /// The statements to repeat.
        body: Vec<Statement>,
    },
    /// Calls a procedure, or a function whose result is not used.
    Call {
        /// The function.
        function: FunctionId,
        /// One argument per parameter.
        arguments: Vec<Argument>,
    },
    /// Ends the function, rule or initial-state program.
    Return(Option<ReturnValue>),
    /// A run-time error unless the condition holds, or the violation of an invariant.
    Assert {
        /// The condition.
        condition: ExprId,
        /// The message.
        message: String,
        /// The invariant that the step violates if this fails; none if it is a run-time error.
        violates: Option<Violated>,
    },
    /// Makes the result unknown unless the condition holds: the model leaves the assumptions made about it, such as the
    /// bounds assumed for values that nothing bounds.
    Require {
        /// The condition.
        condition: ExprId,
        /// The message.
        message: String,
    },
    /// Drops this step (as if the rule had not fired) unless the condition holds.
    Assume(ExprId),
    /// Records that a cover property was reached if the condition holds.
    Cover {
        /// The condition.
        condition: ExprId,
        /// The cover property.
        property: PropertyId,
    },
    /// A run-time error.
    Error {
        /// The message.
        message: String,
    },
    /// Prints something. This has no effect, and nothing that searches a model executes it: only the reference
    /// interpreter does, for whoever asks what a step prints. What has no value is printed as such.
    Print(Vec<PrintPiece>),
    /// Puts the contents of an element into the first free position of a multiset; a full one is a
    /// run-time error.
    MultisetAdd {
        /// The multiset.
        multiset: PlaceId,
        /// The element.
        element: MultisetElement,
    },
    /// Removes the element at a position of a multiset; an absent one is a run-time error. Other positions are
    /// unchanged until the end of the step.
    MultisetRemove {
        /// The multiset.
        multiset: PlaceId,
        /// The position, from 0.
        position: ExprId,
    },
    /// Removes every element for whose position a condition holds. The condition is evaluated for
    /// all present positions before the first is removed.
    MultisetRemoveIf {
        /// The bound position.
        local: LocalId,
        /// The multiset.
        multiset: PlaceId,
        /// The condition.
        condition: ExprId,
    },
}

/// The invariant that a failed assertion represents: the step leads to a state in which it does not hold, and which the
/// variables of the model cannot store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violated {
    /// The invariant, which has no parameters.
    pub property: PropertyId,
    /// The value that cannot be stored, and the text before it: "`n` would be".
    pub value: Option<(String, ExprId)>,
}

/// A piece of what is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintPiece {
    /// A text as it is.
    Text(String),
    /// A scalar.
    Value(ExprId, PrintForm),
    /// The contents of a place, a line for each cell: its name, a colon and its value.
    Contents(PlaceId),
    /// The whole state in the same form.
    State,
}

/// How a scalar is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintForm {
    /// As a value of a type.
    Typed(TypeId),
    /// As a signed number.
    Decimal,
    /// As an unsigned number of 32 bits.
    Unsigned,
    /// As an unsigned number of 32 bits in hexadecimal digits.
    Hexadecimal,
    /// As an unsigned number of 32 bits in octal digits.
    Octal,
    /// As the character with this code.
    Character,
    /// By its name, or as a number if it has none.
    Named(Vec<(i64, String)>),
}

/// The result of a return statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnValue {
    /// A scalar. Out of the return type's range is a run-time error.
    Value(ExprId),
    /// The contents of an array or record.
    Copy(PlaceId),
}

/// An element added to a multiset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultisetElement {
    /// A scalar.
    Value(ExprId),
    /// The contents of a place.
    Copy(PlaceId),
}
