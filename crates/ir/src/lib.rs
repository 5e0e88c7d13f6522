//! The intermediate representation every language is lowered to and every analysis and engine
//! reads: a nondeterministic sequential model over finite scalar slots. It knows nothing of
//! languages, groups or engines.

mod diagnostics;
mod expression;
mod index;
mod model;
mod statement;
mod types;

pub use diagnostics::{Diagnostic, Label, Severity, Source, Span};
pub use expression::{
    Argument, BinaryOperator, Expr, Iteration, Place, Pool, Quantifier, Root, Step, UnaryOperator,
};
pub use index::{
    ExprId, FunctionId, LocalId, PlaceId, PropertyId, RuleId, SlotId, StartId, Table, TableIndex, TypeId, VariableId,
};
pub use model::{Function, Local, LocalKind, Model, Parameter, Property, PropertyKind, Rule, Start, Variable};
pub use statement::{MultisetElement, ReturnValue, Statement, StatementKind};
pub use types::{Domain, Field, Type, TypeKind};
