//! Temporal properties: each has its own search, after that of the states.

use quotient_graphs::TemporalReport;
use quotient_ir::PropertyId;
use quotient_runs::{RunQuestion, Runs};
use quotient_search::{EngineError, FairnessMode, PropertyReport, StopReason, Subject, TemporalParts, Verdict};
use quotient_systems::SymmetrySource;

use crate::control::{Control, Follower, Phase};
use crate::counters;
use crate::error::Error;
use crate::found::Found;
use crate::names::property_name;
use crate::options::{Engine, Reduction, Symmetry};
use crate::partial_order;
use crate::plan::{Plan, Refusal};
use crate::schedule::detection_beside;
use crate::search::{answer, within_memory};
use crate::symbolic;

/// Checks the temporal properties of a plan, and adds the verdicts to what was found.
pub(crate) fn check_all(plan: &Plan, control: &Control, found: &mut Found) -> Result<(), Error> {
    if !plan.temporal.is_empty() {
        found.report.properties.iter().for_each(|property| control.decide(property.subject, property.verdict));
    }
    for &property in &plan.temporal {
        // After a limit, nothing is left for the others.
        let ended = found.report.stop_reason.clone().filter(|reason| !is_about_properties(reason));
        let report = match ended.or_else(|| control.check()) {
            Some(reason) => unfinished(property, reason, plan.search.fairness),
            None => check(plan, control, property, found)?,
        };
        let report = match control.stop_reason() {
            Some(reason) if report.verdict == Verdict::Inconclusive => {
                TemporalReport { stop_reason: Some(reason), ..report }
            }
            _ => report,
        };
        control.decide(Subject::Property(property), report.verdict);
        add(found, &report, !plan.searches_states());
        found.temporal.push(report);
    }
    found.report.summarize();
    Ok(())
}

/// Marks temporal properties never reached as undecided.
pub(crate) fn leave_open(plan: &Plan, found: &mut Found) {
    let missing: Vec<PropertyId> = plan.temporal[found.temporal.len()..].to_vec();
    if missing.is_empty() {
        return;
    }
    for property in missing {
        let reason = found.report.stop_reason.clone().unwrap_or(StopReason::Withdrawn);
        let report = unfinished(property, reason, plan.search.fairness);
        add(found, &report, false);
        found.temporal.push(report);
    }
    found.report.summarize();
}

/// Whether a search ended because of what it found, and not because of a limit.
fn is_about_properties(reason: &StopReason) -> bool {
    matches!(
        reason,
        StopReason::Violation | StopReason::Fault(_) | StopReason::Exhausted(_) | StopReason::Constraint(_)
    )
}

fn unfinished(property: PropertyId, reason: StopReason, fairness: FairnessMode) -> TemporalReport {
    let report = TemporalReport::new(property, fairness);
    TemporalReport { verdict: Verdict::Inconclusive, stop_reason: Some(reason), ..report }
}

/// Checks a temporal property. `found` is what the search of the states found.
fn check(plan: &Plan, control: &Control, property: PropertyId, found: &Found) -> Result<TemporalReport, Error> {
    let source = match (plan.options.symmetry, plan.options.reduction) {
        (Symmetry::Off, _) | (_, Reduction::None) => None,
        (Symmetry::Auto, _) => Some(SymmetrySource::Detected),
        (Symmetry::Declared, _) => Some(SymmetrySource::Declared),
    };
    control.enter(Phase::Searching);
    let report = search(plan, control, (property, found), source)?;
    if plan.options.cross_check && source.is_some() {
        control.enter(Phase::Comparing);
        let whole = search(plan, control, (property, found), None)?;
        let is_decided = |report: &TemporalReport| report.verdict != Verdict::Inconclusive;
        if is_decided(&report) && is_decided(&whole) && report.verdict != whole.verdict {
            let name = property_name(plan.model.ir(), property);
            let difference = format!("temporal property `{name}` has another verdict without symmetries");
            return Err(Error::of_engine(plan.model.source(), EngineError::CrossCheck(difference)));
        }
    }
    Ok(report)
}

fn search(
    plan: &Plan,
    control: &Control,
    (property, found): (PropertyId, &Found),
    source: Option<SymmetrySource>,
) -> Result<TemporalReport, Error> {
    let mut options = within_memory(&plan.search, control);
    if plan.options.reduction != Reduction::Auto || plan.options.cross_check {
        // A reduction was asked for.
        options.temporal_trial = 0;
    } else {
        options.temporal_detection = detection_beside(found.report.transitions);
    }
    options.temporal_parts = partial_order::for_temporal(plan, found);
    if plan.options.engine == Engine::Symbolic {
        let checked = symbolic::check_tree(plan, control, (property, found));
        return match control.stop_reason() {
            // Whatever it returned, it was interrupted.
            Some(reason) if checked.is_err() => Ok(unfinished(property, reason, plan.search.fairness)),
            _ => checked,
        };
    }
    if plan.options.engine == Engine::Auto
        && let Some(report) = counters::try_temporal(plan, property, &options, control)?
    {
        return Ok(report);
    }
    if plan.options.engine == Engine::Counters {
        let checked = counters::check_temporal(&plan.model, property, &options, control);
        return match control.stop_reason() {
            Some(reason) if checked.is_err() => Ok(unfinished(property, reason, plan.search.fairness)),
            _ => checked,
        };
    }
    let (parts, question) = (options.temporal_parts, RunQuestion { property, symmetries: source });
    let checked = answer(Runs, plan.model.job(options, question), Follower::new(control, None), control)?;
    match (checked, control.stop_reason()) {
        (Ok(TemporalReport { all_steps: Some(reason), .. }), None) if parts == TemporalParts::Always => {
            Err(Refusal::PartialOrder(reason).into())
        }
        (Ok(report), _) => Ok(report),
        // Whatever it returned, it was interrupted.
        (Err(_), Some(reason)) => Ok(unfinished(property, reason, plan.search.fairness)),
        (Err(error), None) => Err(Error::of_engine(plan.model.source(), error)),
    }
}

/// Adds a verdict to those of the search of the states, in the order of declaration. `alone` says that there was no such
/// search: then the nodes of the products are the states.
fn add(found: &mut Found, report: &TemporalReport, alone: bool) {
    let own = PropertyReport {
        subject: Subject::Property(report.property),
        verdict: report.verdict,
        trace: report.trace.clone(),
        other_traces: Vec::new(),
    };
    found.report.add(own);
    let ended = report.stop_reason.clone().filter(|reason| *reason != StopReason::Violation);
    if found.report.stop_reason.is_none() {
        found.report.stop_reason = ended;
    }
    if alone {
        for search in &report.searches {
            found.report.states += search.states;
            found.report.transitions += search.transitions;
            found.report.memory_bytes = found.report.memory_bytes.max(search.memory_bytes);
        }
    }
}
