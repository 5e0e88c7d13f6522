//! The entry points of searches in one process.

use quotient_ir::{Interpreter, Layout, Model};

use crate::explore::OneProcess;
use crate::narrowing::check_whole;
use quotient_search::{Batches, EngineError, Observer, Report, SearchOptions};
use quotient_states::{check_orbits, search_and_judge};
use quotient_systems::{PassingSystem, ReductionPlan};

/// Searches the reachable states of a model, or their orbits as planned, and checks its properties. The plan must cover
/// all properties that are checked.
///
/// The model must be one that [`quotient_ir::verify()`] accepts.
///
/// # Errors
/// If options are incompatible, or if a violation cannot be replayed with the reference interpreter, a slot holds a
/// value that detection considered impossible, or a comparison shows a difference: the last three are defects of this
/// program and never a verdict.
pub fn check(
    model: &Model,
    layout: &Layout,
    plan: Option<&ReductionPlan>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    let Some(plan) = plan.filter(|plan| plan.reduction.is_some()) else {
        return check_whole(model, layout, options, observer);
    };
    check_orbits(&OneProcess, model, layout, plan, options, observer)
}

/// Searches the reachable states of a transition system of a model and checks the properties of the model. Transient
/// states are not stored. Findings are replayed by the interpreter.
///
/// # Errors
/// As for [`check`].
pub fn check_system<S: Batches>(
    system: &S,
    interpreter: &Interpreter<'_>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    let system = PassingSystem::new(system, interpreter, options);
    search_and_judge(&OneProcess, &system, interpreter, options, None, observer, None).map(|(report, _)| report)
}
