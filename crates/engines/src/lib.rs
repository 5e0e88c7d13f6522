//! Searches of the states of a model: the reachable states, the properties that hold, and a replayed run for each that
//! does not. Knows nothing about languages.
//!
//! The searches drive a [`TransitionSystem`], whichever it is. There are three entry points: [`check`] (the whole state
//! space or its quotient, with rules compiled to machine code, backed by an evaluator specialised to each rule
//! instance), [`check_adaptive`] (models that are only partly symmetric), and [`check_system`] (any system, such as the
//! one on the reference interpreter, for comparison).

mod adaptive;
mod booleans;
mod check;
mod counters;
mod cross_check;
mod distributed;
pub mod every;
mod explicit;
mod narrowing;
pub mod need;
mod observer;
mod options;
mod packed_map;
pub mod partial_order;
mod reduction;
mod refinement;
mod report;
mod seam;
mod solver;
mod symbolic;
mod systems;
pub mod temporal;
mod tuning;
mod verdicts;
pub mod walk;

pub use adaptive::{
    AdaptiveError, AdaptiveReport, GuardedEdge, GuardedQuotient, PartitionTime, check_adaptive, guarded_quotient,
};
pub use check::{check, check_system, unfinished};
pub use counters::{
    CountersBounds, CountersError, CountersReport, Refused, check_by_counters, check_temporal_by_counters,
};
pub use cross_check::{CrossCheck, Extent};
pub use distributed::{JoinError, Membership, Network, join};
pub use narrowing::{Narrowing, layout_for};
pub use observer::{Edge, Observer, Progress, Silent};
pub use options::{
    FairnessMode, FairnessScope, Instances, LivenessScope, SearchOptions, SearchOrder, Spill, StoreMode, TemporalParts,
    ViolationLimit,
};
pub use reduction::{
    LivenessSearch, Markers, Reduction, ReductionPlan, Route, Symmetry, SymmetrySource, plan, plan_in_steps, too_large,
};
pub use report::{
    Approximation, EngineError, JudgedInstance, LivenessReport, PropertyReport, Report, RuleFirings, StopReason,
    Subject, Verdict,
};
pub use seam::{
    Batches, Event, Facts, FieldTest, Identity, Instance, Parts, Representatives, RuleInstance, SearchSpace, Selection,
    Share, Sink, Steps, Successors, Tag, TransitionSystem,
};
pub use solver::{Content, Operators, Part, SolverMethod, SolverReport, Strengthening, as_aiger, check_by_solver};
pub use symbolic::{
    Arrangement, SetsReport, SymbolicError, SymbolicReport, SymbolicSymmetry, Way, check_symbolic, check_symbolic_tree,
    count_by_saturation, orbit_relation_size,
};
pub use systems::compiled::CompiledSystem;
pub use systems::evaluator::{EvaluatorScratch, SPECIALISED_INSTANCES, SpecialisedSystem};
pub use systems::passing::{PassingScratch, PassingSystem};
pub use systems::quotient::{Clock, QuotientScratch, QuotientSystem};
pub use systems::reference::ReferenceSystem;
pub use systems::starts::StartSieve;
pub use temporal::{
    PartsReport, ProductReport, TemporalReport, UsedSymmetry, check_temporal, global_obstacle, parts_obstacle,
};
