//! What engines share, and no engine. Knows nothing of any engine, nor of how a model is run.
//!
//! * `seam`: the interface between searches and transition systems. [`TransitionSystem`] is all that a model must
//!   provide; what it can do faster, or a reduction adds, are traits of their own. `forwarding` is for wrappers.
//! * [`need`]: the one table of what goes together.
//! * `run`: a [`Run`] is the only owner of a thread, a meter, an interrupt and the capture of panics ([`defect`]);
//!   `forecast` tells how large a search will be.
//! * `options`, `checks`, `observer`: what is searched, what is checked, and who watches.
//! * `verdicts` and `report`: the outcome. `words` compares and hashes packed states.
//! * [`partial_order`]: the wrapper that takes a part of the steps.

mod checks;
pub mod defect;
mod engine;
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
mod space;
mod verdicts;
pub mod words;

pub use checks::{Checks, is_passing};
pub use defect::Defect;
pub use engine::{Engine, Job, NoAnswer, Pacing, Refused, answer};
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
    Share, Sink, Steps, Successors, Tag, TransitionSystem, Visit, VisitTruth,
};
pub use sets::{SetsReport, SymbolicReport, Way};
pub use solving::SolverMethod;
pub use space::{Space, SpaceScratch};
pub use verdicts::{Verdicts, excuse, failure, unfinished};
