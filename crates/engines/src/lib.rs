//! The engines of quotient under one name: everything here is in the crates of the single engines and of what they share.

pub use quotient_every as every;
pub use quotient_relations as relations;
pub use quotient_search::need;
pub use quotient_systems::walk;

pub mod partial_order {
    //! Partial-order reduction.
    pub use quotient_relations::Obstacle;
    pub use quotient_search::partial_order::Relations;
}

pub mod temporal {
    //! Claims about the tree of runs, on explicit graphs.
    pub use quotient_graphs::tree;
}

pub use quotient_counters::{
    CountersBounds, CountersError, CountersReport, Refused, check_by_counters, check_temporal_by_counters,
};
pub use quotient_distributed::{JoinError, Membership, Network, check_distributed, join};
pub use quotient_explicit::{
    AdaptiveError, AdaptiveReport, GuardedEdge, GuardedQuotient, PartitionTime, check, check_adaptive, check_system,
    guarded_quotient, layout_for,
};
pub use quotient_graphs::{PartsReport, ProductReport, TemporalReport, UsedSymmetry};
pub use quotient_proofs::{
    Content, Operators, Part, SolverMethod, SolverReport, Strengthening, as_aiger, check_by_solver,
};
pub use quotient_runs::{check_temporal, global_obstacle, parts_obstacle};
pub use quotient_search::defect;
pub use quotient_search::{
    Approximation, Batches, Clock, CrossCheck, Defect, Edge, EngineError, Event, Extent, Facts, FairnessMode,
    FairnessScope, FieldTest, Identity, Instance, Instances, JudgedInstance, LivenessReport, LivenessScope, Marks,
    Measure, Narrowing, Observer, Pace, Paced, Parts, Progress, PropertyReport, Reached, Report, Representatives,
    RuleFirings, RuleInstance, Run, SearchOptions, SearchOrder, SearchSpace, Selection, Share, Silent, Sink, Spill,
    Step, Steps, StopReason, StoreMode, Subject, Successors, Tag, TemporalParts, TransitionSystem, Verdict,
    ViolationLimit, unfinished,
};
pub use quotient_sets::{
    SetsReport, SymbolicError, SymbolicReport, SymbolicSymmetry, Way, check_symbolic, check_symbolic_tree,
    count_by_saturation,
};
pub use quotient_systems::{
    CompiledSystem, EvaluatorScratch, LivenessSearch, Markers, PassingScratch, PassingSystem, QuotientScratch,
    QuotientSystem, Reduction, ReductionPlan, Route, SPECIALISED_INSTANCES, SpecialisedSystem, StartSieve, StartsUpTo,
    Symmetry, SymmetrySource, plan, plan_in_steps, too_large,
};
