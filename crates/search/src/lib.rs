//! What engines share, and no engine: the seam between searches and transition systems ([`TransitionSystem`] and the traits
//! for what a system can do faster or a reduction adds), the options and limits of a search, what it reports while it runs
//! ([`Observer`]) and at its end ([`Report`], [`Verdicts`]), and the wrapper that takes a part of the steps
//! ([`partial_order`]), and the runs that work goes on in ([`Run`]).
//!
//! Knows nothing of any engine, nor of how a model is run.

mod checks;
pub mod defect;
mod forecast;
mod forwarding;
mod membership;
pub mod need;
mod observer;
mod options;
pub mod partial_order;
mod report;
mod run;
mod seam;
mod sets;
mod solving;
mod verdicts;
pub mod words;

pub use checks::{Checks, is_passing};
pub use defect::Defect;
pub use forecast::Forecast;
pub use forwarding::Wrapper;
pub use membership::Membership;
pub use observer::{Clock, Edge, Observer, Progress, Silent};
pub use options::{
    FairnessMode, FairnessScope, Instances, LivenessScope, Narrowing, SearchOptions, SearchOrder, Spill, StoreMode,
    TemporalParts, ViolationLimit,
};
pub use report::{
    Approximation, CrossCheck, EngineError, Extent, Figures, JudgedInstance, LivenessReport, PropertyReport, Report,
    RuleFirings, StopReason, Subject, Verdict,
};
pub use run::{Marks, Measure, Pace, Paced, Reached, Run, Step};
pub use seam::{
    Batches, Event, Facts, FieldTest, Identity, Instance, Parts, Representatives, RuleInstance, SearchSpace, Selection,
    Share, Sink, Steps, Successors, Tag, TransitionSystem,
};
pub use sets::{SetsReport, SymbolicReport, Way};
pub use solving::SolverMethod;
pub use verdicts::{Verdicts, excuse, failure, unfinished};
