//! Calls of the engines: every search goes through here, within the remaining memory.

use quotient_search::{EngineError, Observer, Report, SearchOptions, StopReason};
use quotient_systems::ReductionPlan;

use crate::control::Control;
use crate::model::Model;

/// The part of the memory for states at which they are stored in few bytes each, where that is possible: one half.
const DENSE_SHARE: u64 = 2;

/// Searches as planned, or without a reduction if there is no plan.
pub(crate) fn run(
    model: &Model,
    plan: Option<&ReductionPlan>,
    options: &SearchOptions,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    quotient_explicit::check(model.ir(), model.layout(), plan, &within_memory(options, control), observer)
}

/// A search as planned within the memory that the options allow, beside another search.
pub(crate) fn run_within(
    model: &Model,
    plan: Option<&ReductionPlan>,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    quotient_explicit::check(model.ir(), model.layout(), plan, options, observer)
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
    quotient_search::unfinished(model.ir(), model.layout(), options, reason, &progress)
}
