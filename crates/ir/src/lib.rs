//! The intermediate representation that every language is lowered to and every analysis and engine reads: a
//! nondeterministic sequential model over finite scalar slots. Knows nothing about languages, groups or engines.

mod assembly;
mod behaviour;
mod budget;
pub mod builder;
mod calling;
mod chart;
mod diagnostics;
mod display;
mod expression;
mod fault;
mod formula;
mod index;
mod interpreter;
mod layout;
mod model;
mod murphi;
mod notation;
mod operations;
mod ownership;
mod presentation;
mod statement;
mod text;
mod trace;
mod types;
mod verify;
mod violation;
pub mod walk;
mod watched;

pub use behaviour::{Behaviour, BehaviourClaim, EventLabel, INTERNAL_EVENT, Refinement, TERMINATION_EVENT, event_text};
pub use budget::{Budget, Interrupt, Meter, Spent};
pub use calling::PartStep;
pub use chart::{ChartStep, Exchange, Exchanges};
pub use diagnostics::{Claim, Diagnostic, Label, Severity, Source, Span};
pub use display::queue_text;
pub use expression::{Argument, BinaryOperator, Expr, Iteration, Place, Pool, Quantifier, Root, Step, UnaryOperator};
pub use fault::{Fault, FaultKind};
pub use formula::{Formula, Positions, Temporal, TemporalClaim};
pub use index::{
    ExprId, FunctionId, LocalId, PlaceId, PropertyId, RuleId, SlotId, StartId, Table, TableIndex, TypeId, VariableId,
};
pub use interpreter::{CallContext, DecidingPart, FailureContext, Footprint, Interpreter, NamedValue, Outcome, Shown};
pub use layout::{Layout, LayoutError, MultisetSlots, Slot, State, Valuation};
pub use model::{
    Action, Function, Local, LocalKind, Model, Objective, Parameter, Property, PropertyKind, Rule, Settled, Start,
    Variable,
};
pub use murphi::{PrintError, PrintOptions, print_murphi};
pub use notation::{Index, Notation};
pub use operations::{CallValue, OperationCall, Operations, ParameterNotation, Stages};
pub use ownership::{Fairness, Number, Owner, Participation};
pub use presentation::{Calling, Caption, PartKind, Participant, Presentation, ShownPart, SourceStatement, Unexecuted};
pub use statement::{MultisetElement, PrintForm, PrintPiece, ReturnValue, Statement, StatementKind, Violated};
pub use text::{called_text, expression_text, place_text};
pub use trace::{ReplayError, Trace, TraceStep, changed_slots, check_violation, replay};
pub use types::{Domain, Field, Type, TypeKind};
pub use verify::verify;
pub use violation::{DeadlockMode, Violation};
pub use watched::{ValueDisplay, Watched};
