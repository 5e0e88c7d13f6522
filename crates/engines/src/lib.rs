//! Searches of the states of a model: which states there are, which properties hold, and a
//! replayed run for each that does not. It knows nothing of languages.
//!
//! The searches drive a [`TransitionSystem`] and do not know which one. [`check`] uses the default
//! one, an evaluator specialised to each instance of each rule; the one on the reference
//! interpreter is for comparison.

mod batch;
mod evaluator;
mod liveness;
mod observer;
mod options;
mod quotient;
mod rebuild;
mod reference;
mod report;
mod search;
mod store;
mod system;
mod verdicts;
pub mod walk;

pub use evaluator::{Scratch, SpecialisedSystem};
pub use observer::{Observer, Progress, Silent};
pub use options::{SearchOptions, SearchOrder};
pub use quotient::{QuotientScratch, QuotientSystem};
pub use reference::ReferenceSystem;
pub use report::{EngineError, PropertyReport, Report, StopReason, Subject, Verdict};
pub use system::{Event, Instance, TransitionSystem};
pub use verdicts::check_system;

use num_bigint::BigUint;
use quotient_ir::{Interpreter, Layout, Model};
use quotient_symmetry::{Canonicalizer, Workspace};

/// Searches the reachable states of a model and checks its properties.
///
/// The model must be one that [`quotient_ir::verify()`] accepts.
///
/// # Errors
/// If the model has no layout, or if a violation cannot be replayed with the reference
/// interpreter, which is a defect of this program and never a verdict.
pub fn check(model: &Model, options: &SearchOptions, observer: &mut dyn Observer) -> Result<Report, EngineError> {
    let layout = Layout::new(model)?;
    let interpreter = Interpreter::new(model, &layout);
    let system = SpecialisedSystem::new(&interpreter);
    check_system(&system, &interpreter, options, observer)
}

/// Searches one state of each orbit of a group of symmetries of a model and checks its properties.
/// The group must preserve every property that is checked.
///
/// # Errors
/// As for [`check`].
pub fn check_quotient(
    model: &Model,
    layout: &Layout,
    canonicalizer: &Canonicalizer,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    let interpreter = Interpreter::new(model, layout);
    let system = SpecialisedSystem::new(&interpreter);
    let quotient = QuotientSystem::new(&system, canonicalizer);
    let mut workspace = Workspace::default();
    let mut size_of = |state: &[u64]| canonicalizer.orbit_size(&mut workspace, state);
    verdicts::check_counted(&quotient, &interpreter, options, observer, Some(&mut size_of))
}

/// The number of concrete states that a stored state stands for.
pub(crate) type OrbitSize<'a> = &'a mut dyn FnMut(&[u64]) -> BigUint;
