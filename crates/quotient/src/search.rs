//! The calls of engines: every search runs through here, within what is left of the memory.

use quotient_engines::{
    self as engines, EngineError, Observer, Plan, PropertyReport, Report, SearchOptions, StopReason, Subject, Verdict,
};
use quotient_ir::DeadlockMode;

use crate::control::Control;
use crate::model::Model;
use crate::selection::claims;

/// Searches as planned, or without a reduction if there is no plan.
pub(crate) fn run(
    model: &Model,
    plan: Option<&Plan>,
    options: &SearchOptions,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Report, EngineError> {
    engines::check(model.ir(), model.layout(), plan, &within_memory(options, control), observer)
}

/// The same options, with the memory that is left.
pub(crate) fn within_memory(options: &SearchOptions, control: &Control) -> SearchOptions {
    if options.checkpoint.is_some() {
        control.write_at_the_end();
    }
    SearchOptions { max_memory: control.store_bytes(options.threads, options.spill.is_some()), ..options.clone() }
}

/// What there is to report of a search that was stopped before it could say anything itself.
pub(crate) fn unfinished(model: &Model, options: &SearchOptions, reason: StopReason, control: &Control) -> Report {
    let progress = control.progress().unwrap_or_default();
    let mut subjects: Vec<Subject> =
        claims(model.ir(), options.properties.as_deref()).into_iter().map(Subject::Property).collect();
    if options.deadlock != DeadlockMode::Off {
        subjects.push(Subject::Deadlock);
    }
    if options.errors {
        subjects.push(Subject::Errors);
    }
    let undecided = |subject| PropertyReport { subject, verdict: Verdict::Inconclusive, trace: None };
    Report {
        verdict: Verdict::Inconclusive,
        stop_reason: Some(reason),
        states: progress.states,
        represented: None,
        transitions: progress.transitions,
        depth: progress.depth,
        memory_bytes: progress.memory_bytes,
        disk_bytes: 0,
        properties: subjects.into_iter().map(undecided).collect(),
        words: model.layout().words(),
        approximation: None,
        liveness_searches: Vec::new(),
        canonicalization: None,
        marker_collisions: None,
        never_fired: None,
        outgrown: 0,
        cross_check: None,
    }
}
