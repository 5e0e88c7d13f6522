//! The intermediate representation: what every language is lowered to, and what every analysis and engine reads. Knows
//! nothing about languages, groups or engines.
//!
//! A model is a nondeterministic sequential program: global variables, rules (parameters, guard, body), initial-state
//! programs, properties. Murphi is its textual form.
//!
//! * **The model**: `model`; `types` (values are 64-bit integers, the members of a union have disjoint ranges);
//!   `expression` (expressions and places, hash-consed in the pool of the model); `statement` (structured; functions
//!   are not inlined); `ownership` (processes and fairness); `formula` and `behaviour` (what properties claim).
//!   `builder` writes models in Rust, `verify` says what a model must be, `walk` visits its parts.
//! * **States**: `layout` flattens variables to scalar slots, each a bit field of the packed state.
//! * **Meaning**: `interpreter`, the reference interpreter, defines what a model means. It is naive on purpose.
//!   `trace` has runs, with a cycle if they are lassos, and replays them; `violation` and `fault` say what can be
//!   wrong.
//! * **Display**: `presentation`, `notation`, `operations`, `chart`, `calling` and `watched` are data about how runs
//!   are shown, without effect on the meaning of a model; `display` makes text of them. `murphi` prints models as
//!   Murphi.
//! * **Another view**: `net` describes a model made of a Petri net as vectors, for an engine of nets.
//! * **Work**: `index` has typed indices, `assembly` makes models of parts. `budget` has budgets, meters and
//!   interrupts. Work is counted, not timed. `diagnostics` describes what is wrong with a text, and where.
//!
//! Where to change what: an operator is added in `expression`, then wherever the compiler reports a missing case
//! (interpreter, `verify`, printer, `functions/src/unfold`, `systems/src/evaluator`; compiled code may leave it to the
//! evaluator). What print statements print is `PrintPiece` and `interpreter/printing.rs`; searches skip them. Why a
//! condition fails is explained by `interpreter/context.rs`. Who takes part in a step is in `Presentation` (Promela)
//! or `Exchanges` (CSP#).

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
mod net;
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
    Action, Function, Local, LocalKind, Model, Objective, Parameter, Property, PropertyKind, Rule, Start, Variable,
};
pub use murphi::{PrintError, PrintOptions, print_murphi};
pub use net::Net;
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
