//! Searches of the states of a model: which states there are, which properties hold, and a
//! replayed run for each that does not. It knows nothing of languages.
//!
//! The searches drive a [`TransitionSystem`] and do not know which one. There are three ways in: [`check`] (the
//! whole state space or its quotient, with rules compiled to machine code and an evaluator specialised to each
//! instance of each rule behind that), [`check_adaptive`] (models that are only partly symmetric), and
//! [`check_system`] (any system, such as the one on the reference interpreter, for comparison).

mod adaptive;
mod barrier;
mod batch;
mod check;
mod checkpoint;
mod compiled;
mod cross_check;
mod evaluator;
mod expansion;
mod firing;
mod guard;
mod judge;
mod liveness;
mod lookup;
mod narrowing;
mod observer;
mod options;
mod parallel;
mod passing;
mod plan;
mod quotient;
mod rebuild;
mod recent;
mod reference;
mod report;
mod search;
mod shards;
mod spill;
mod store;
mod system;
mod verdicts;
pub mod walk;

pub use adaptive::{
    AdaptiveError, AdaptiveReport, GuardedEdge, GuardedQuotient, PartitionTime, check_adaptive, guarded_quotient,
};
pub use check::{check, check_system};
pub use compiled::CompiledSystem;
pub use cross_check::{CrossCheck, Extent};
pub use evaluator::{Scratch, SpecialisedSystem};
pub use narrowing::{Narrowing, layout_for};
pub use observer::{Edge, Observer, Progress, Silent};
pub use options::{Instances, LivenessScope, SearchOptions, SearchOrder, Spill, StoreMode};
pub use passing::{PassingScratch, PassingSystem};
pub use plan::{LivenessSearch, Markers, Plan, Reduction, Symmetry, SymmetrySource, plan, too_large};
pub use quotient::{Clock, QuotientScratch, QuotientSystem};
pub use reference::ReferenceSystem;
pub use report::{
    Approximation, EngineError, JudgedInstance, LivenessReport, PropertyReport, Report, StopReason, Subject, Verdict,
};
pub use system::{
    Batches, Event, FieldTest, Identity, Instance, Representatives, SearchSpace, Sink, Steps, Successors, Tag,
    TransitionSystem,
};
