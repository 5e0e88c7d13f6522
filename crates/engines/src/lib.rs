//! Searches of the states of a model: which states there are, which properties hold, and a
//! replayed run for each that does not. It knows nothing of languages.
//!
//! The searches drive a [`TransitionSystem`] and do not know which one. [`check`] uses the default
//! one, rules compiled to machine code, with an evaluator specialised to each instance of each rule
//! behind it; the one on the reference interpreter is for comparison.

mod adaptive;
mod barrier;
mod batch;
mod checkpoint;
mod compiled;
mod cross_check;
mod evaluator;
mod firing;
mod guard;
mod judge;
mod liveness;
mod markers;
mod narrowing;
mod observer;
mod options;
mod parallel;
mod passing;
mod plan;
mod quotient;
mod rebuild;
mod recent;
mod reduced;
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
    AdaptiveError, AdaptiveReport, GuardedEdge, GuardedQuotient, PartitionTime, check_adaptive, check_partial,
    check_prepared, cross_check_adaptive, guarded_quotient,
};
pub use compiled::CompiledSystem;
pub use cross_check::{CrossCheck, Extent};
pub use evaluator::{Scratch, SpecialisedSystem};
pub use markers::{MarkerSystem, MarkerSystemScratch};
pub use narrowing::{Narrowing, Packed, check_packed, layout_for};
pub use observer::{Edge, Observer, Progress, Silent};
pub use options::{Instances, LivenessScope, SearchOptions, SearchOrder, Spill, StoreMode};
pub use passing::{PassingScratch, PassingSystem};
pub use plan::{LivenessSearch, Markers, Plan, Reduction, Symmetry, SymmetrySource, plan, too_large};
pub use quotient::{Clock, QuotientScratch, QuotientSystem};
pub use reference::ReferenceSystem;
pub use report::{
    Approximation, EngineError, JudgedInstance, LivenessReport, PropertyReport, Report, StopReason, Subject, Verdict,
};
pub use system::{Event, FieldTest, Instance, Sink, Successors, Tag, TransitionSystem};
pub use verdicts::check_system;

use num_bigint::BigUint;
use quotient_ir::{Interpreter, Layout, Model};

/// Searches the reachable states of a model and checks its properties.
///
/// The model must be one that [`quotient_ir::verify()`] accepts.
///
/// # Errors
/// If the model has no layout, or if a violation cannot be replayed with the reference
/// interpreter, which is a defect of this program and never a verdict.
pub fn check(model: &Model, options: &SearchOptions, observer: &mut dyn Observer) -> Result<Report, EngineError> {
    check_packed(model, options, &Narrowing::default(), observer).map(|packed| packed.report)
}

/// Searches the representatives of a model as planned and checks its properties. The plan must be one
/// for all properties that are checked.
///
/// # Errors
/// As for [`check`], and if a slot holds a value that detection took to be impossible.
pub fn check_with(
    model: &Model,
    layout: &Layout,
    plan: &Plan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    if plan.reduction.is_none() {
        return check(model, options, observer);
    }
    let interpreter = Interpreter::new(model, layout);
    let evaluator = SpecialisedSystem::of_reachable(&interpreter);
    let system = CompiledSystem::new(&evaluator, true);
    let (mut report, _) = reduced::check_planned(&system, &interpreter, plan, options, observer)?;
    evaluator.fired().report(plan.rule_classes(), &mut report);
    Ok(report)
}

/// The same, and the unreduced search besides, compared with it state by state.
///
/// # Errors
/// As for [`check_with`], and if the two do not agree.
pub fn cross_check(
    model: &Model,
    layout: &Layout,
    plan: &Plan,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<(Report, CrossCheck), EngineError> {
    let interpreter = Interpreter::new(model, layout);
    let evaluator = SpecialisedSystem::of_reachable(&interpreter);
    let system = CompiledSystem::new(&evaluator, plan.reduction.is_some());
    // All states are looked up afterwards, in memory.
    let options = &SearchOptions { spill: None, ..options.clone() };
    let (mut report, exploration) = reduced::check_planned(&system, &interpreter, plan, options, observer)?;
    evaluator.fired().report(plan.rule_classes(), &mut report);
    let found = (&report, &exploration);
    let comparison = cross_check::compare(&system, &interpreter, plan, options, observer, found)?;
    Ok((report, comparison))
}

/// The number of concrete states that a stored state stands for, if that is known.
pub(crate) type OrbitSize<'a> = &'a mut dyn FnMut(&[u64]) -> Option<BigUint>;
