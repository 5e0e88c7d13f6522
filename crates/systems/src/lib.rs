//! Transition systems and wrappers: the evaluator specialised to each instance, the code generator on top of it, the layer
//! for transient states, and the quotient by symmetries; the choice of a reduction, and layouts as narrow as a model allows.
//!
//! Only this crate generates code, and a build without the feature `machine-code` generates none: then the evaluator runs
//! everything. Knows nothing of searches.

// Some of what the evaluator knows about its code is only for the code generator.
#![cfg_attr(not(feature = "machine-code"), expect(dead_code))]

#[cfg_attr(not(feature = "machine-code"), path = "without_code.rs")]
mod compiled;
mod deferred;
mod evaluator;
mod firing;
mod guard;
mod packed_map;
mod parameters;
mod passing;
mod patience;
mod possible;
mod quotient;
mod reduction;
mod repacking;
mod slot_domain;
mod starts;
mod tuning;
pub mod walk;

pub use compiled::CompiledSystem;
pub use deferred::DeferredSystem;
pub use evaluator::{EvaluatorScratch, SPECIALISED_INSTANCES, SpecialisedSystem};
pub use firing::FiredRules;
pub use guard::Guard;
pub use packed_map::PackedMap;
pub use passing::{PassingScratch, PassingSystem};
pub use patience::{Patience, SLOW_STEPS};
pub use possible::layout_of_possible;
pub use quotient::{QuotientScratch, QuotientSystem};
pub use reduction::{
    LivenessSearch, Markers, Reduction, ReductionPlan, Route, Symmetry, SymmetrySource, plan, plan_in_steps,
    symmetries, too_large,
};
pub use repacking::Repacking;
pub use starts::{StartSieve, StartsUpTo};
