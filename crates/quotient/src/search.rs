//! Calls of the engines: every search goes through their doors here, within the remaining memory.

use std::sync::Arc;

use quotient_explicit::Explicit;
use quotient_search::{
    self as search, Engine, EngineError, Job, NoAnswer, Observer, Pacing, Report, Run, SearchOptions, StopReason,
};
use quotient_systems::ReductionPlan;

use crate::control::Control;
use crate::error::Error;
use crate::model::Model;

/// The part of the memory for states at which they are stored in few bytes each, where that is possible: one half.
const DENSE_SHARE: u64 = 2;

/// Begins to search states as planned, or without a reduction if there is no plan. None if there are too few resources.
pub(crate) fn begin(
    model: &Model,
    plan: Option<Arc<ReductionPlan>>,
    options: SearchOptions,
    watched: impl Observer + Send + 'static,
    pacing: Pacing,
    control: &Control,
) -> Option<Run<Result<Report, EngineError>>> {
    // Only several machines refuse to be paced.
    Explicit.start(model.job(options, plan), watched, pacing, control.interrupt()).ok()
}

/// The answer of an engine, whatever it takes within the limits of the control.
///
/// # Errors
/// If there is a defect in this program, or there are too few resources.
pub(crate) fn answer<E: Engine>(
    engine: E,
    job: Job<E::Question>,
    watched: impl Observer + Send + 'static,
    control: &Control,
) -> Result<E::Answer, Error> {
    search::answer(engine, job, watched, control.interrupt()).map_err(|error| match error {
        NoAnswer::Defect(defect) => defect.into(),
        NoAnswer::Refused(_) => Error::Stopped(StopReason::OutOfMemory),
    })
}

/// The same options, with the remaining memory.
pub(crate) fn within_memory(options: &SearchOptions, control: &Control) -> SearchOptions {
    if options.checkpoint.is_some() {
        control.write_at_the_end();
    }
    let max_memory = control.store_bytes(options.threads, options.spill.is_some());
    SearchOptions { max_memory, dense_from: max_memory.map(|bytes| bytes / DENSE_SHARE), ..options.clone() }
}

/// The report of a search that was stopped before it produced a result.
pub(crate) fn unfinished(model: &Model, options: &SearchOptions, reason: StopReason, control: &Control) -> Report {
    let progress = control.progress().unwrap_or_default();
    search::unfinished(model.ir(), model.layout(), options, reason, &progress)
}
