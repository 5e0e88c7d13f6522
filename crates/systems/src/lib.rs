//! Transition systems and wrappers, as the seam of `quotient_search` has them. Only this crate generates code, and a
//! build without the feature `machine-code` generates none: then the evaluator runs everything. Knows nothing of
//! searches.
//!
//! * `evaluator`: rules specialised to each valuation of their parameters. `compiled`: the same as machine code (on
//!   unsupported processors, only the evaluator); `compiled/call.rs` has the `unsafe` code of this crate. `deferred`:
//!   the evaluator first, then machine code.
//! * `passing`: [transient states](../../../docs/adr/0013-states-passed-through.md) are passed through.
//! * `quotient`: one state of each orbit, by representatives or markers. `guard` checks that slots hold only values
//!   that detection considered possible.
//! * `reduction`: the choice of a reduction, and which instances of `AG EF` properties need a separate search.
//!   `tuning` chooses among methods by their work on the first successors; `starts` skips starts that symmetries map
//!   to earlier ones ([rationale](../../../docs/adr/0020-representatives-at-the-speed-of-a-step.md)).
//! * `repacking` and `possible`: states in a layout that is as narrow as the model allows.
//! * [`walk`]: single steps, on the reference interpreter.
//! * `firing`: which rules fired at all; `packed_map`: symmetries as maps of packed states; `patience` stops searches
//!   whose layout is too narrow.
//!
//! To make successors faster, see `compiled/dispatch.rs`, `compiled/translation.rs` and `evaluator`. The interpreter
//! as a system, for comparison, is `testkit/src/reference.rs`.

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
