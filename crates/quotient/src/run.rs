//! A check from its plan to its report.

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use quotient_search::{EngineError, Measure, Pacing, StopReason, Verdict};
use quotient_systems::ReductionPlan;

use crate::adaptive::{self, Searched};
use crate::control::{Control, Follower, Observer, Phase, Supervised, too_little_memory};
use crate::costs;
use crate::counters;
use crate::course::{self, Finish, Question, Winner};
use crate::detection::{Symmetries, Wish};
use crate::error::Error;
use crate::found::{Found, stopped};
use crate::nets;
use crate::options::{Engine, Reduction, Symmetry};
use crate::partial_order;
use crate::plan::Plan;
use crate::remarks;
use crate::report::{PartialOrderReport, Report};
use crate::schedule::{DetectionTerms, Patience, Terms};
use crate::search;
use crate::slicing;
use crate::solver;
use crate::strict;
use crate::symbolic;
use crate::temporal;
use crate::workers;

/// Runs the searches of a plan.
pub(crate) fn check(plan: &Plan, control: &Control, observer: &mut dyn Observer) -> Result<Report, Error> {
    let started = Instant::now();
    control.tighten(&plan.options.limits);
    let rest = if control.is_out_of_memory() { None } else { nets::settle(plan, control, observer)? };
    let plan = rest.as_ref().unwrap_or(plan);
    let mut notes = plan.notes.clone();
    let checkpoint = plan.options.checkpoint.as_ref().map(|checkpoint| checkpoint.path.as_path());
    let stamp = checkpoint.and_then(stamp_of);
    let stopped = |reason| search::unfinished(&plan.model, &plan.search, reason, control);
    let mut found = if control.is_out_of_memory() {
        notes.extend(too_little_memory(control));
        let reason = control.stop_reason().unwrap_or(StopReason::OutOfMemory);
        Found::new(None, stopped(reason))
    } else {
        let (job, watched) = (plan.clone(), control.clone());
        match control.supervise(observer, move || conduct(&job, &watched))? {
            Supervised::Done(found) => found?,
            Supervised::Abandoned(reason) => Found::new(None, stopped(reason)),
        }
    };
    temporal::leave_open(plan, &mut found);
    nets::add_settled(plan, &mut found.report);
    if plan.options.cross_check && found.report.cross_check.is_none() && found.report.stop_reason.is_none() {
        notes.push("there was nothing to compare, since the search was not reduced".to_owned());
    }
    if plan.options.statistics && found.report.firings.is_none() {
        let reason = if found.report.stop_reason.is_some() {
            "the search did not finish"
        } else if found.report.represented.is_none() {
            "an orbit may be stored several times"
        } else {
            "there was no time left"
        };
        notes.push(format!("how often rules fire is not known: {reason}"));
    }
    if let Some(path) = checkpoint.filter(|path| stamp_of(path).is_some_and(|now| stamp != Some(now)))
        && found.report.stop_reason.as_ref().is_some_and(ends_early)
    {
        let path = path.display();
        notes.push(format!("what was found is in `{path}`: --resume {path} continues from there"));
    }
    Ok(found.into_report(notes, control, started.elapsed()).planned(plan))
}

/// The modification time and the length of a file, to detect whether it was written since.
fn stamp_of(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Whether a search that ended for this reason can be continued.
fn ends_early(reason: &StopReason) -> bool {
    !matches!(
        reason,
        StopReason::Violation
            | StopReason::Fault(_)
            | StopReason::Exhausted(_)
            | StopReason::Constraint(_)
            | StopReason::Approximate
            | StopReason::Undecided(_)
    )
}

/// Searches the states, if anything is claimed about them, and then for each temporal property. Runs on a watched
/// thread.
fn conduct(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let mut found = match plan.searches_states() {
        true => search_states(plan, control)?,
        false => Found::new(None, quotient_search::Report::of_nothing(plan.model.layout())),
    };
    temporal::check_all(plan, control, &mut found)?;
    Ok(found)
}

/// Searches the model or its slice, and finds runs to remarks.
fn search_states(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let sliced = slicing::sliced(plan);
    let searched = sliced.as_ref().map_or(plan, |sliced| &sliced.plan);
    let mut found = match (&plan.options.workers, strict::strict(searched, control)) {
        (Some(membership), _) => workers::check(searched, membership, control)?,
        (None, Some(strict)) => match search_as_planned(&strict, control)? {
            found if strict::are_runs(&found, searched) => found,
            _ => search_as_planned(searched, control)?,
        },
        (None, None) => search_as_planned(searched, control)?,
    };
    if plan.options.workers.is_none() {
        found.remarks = remarks::with_runs(searched, &found, control)?;
    }
    if let Some(sliced) = &sliced {
        sliced.lift(plan, &mut found)?;
        found.slice = Some(sliced.report());
    }
    Ok(found)
}

/// Finds out which steps depend on each other, if that is asked for, and searches.
pub(crate) fn search_as_planned(plan: &Plan, control: &Control) -> Result<Found, Error> {
    match plan.options.engine {
        Engine::Symbolic => return symbolic::search(plan, control),
        Engine::Counters => return counters::search(plan, control),
        Engine::Solver(method) => return solver::search(plan, method, control),
        Engine::Auto => {
            if let Some(found) = counters::try_search(plan, control)? {
                return Ok(found);
            }
        }
        Engine::Explicit => {}
    }
    let (search, partial_order) = partial_order::applied(plan, control.interrupt())?;
    let found = search_with_symmetries(&Plan { search, ..plan.clone() }, control)?;
    let found = Found { partial_order: partial_order.or(found.partial_order), ..found };
    match plan.options.engine {
        Engine::Auto => symbolic::instead(plan, found, control),
        _ => Ok(found),
    }
}

/// Finds symmetries and searches with them.
fn search_with_symmetries(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let Plan { model, options, search, properties, .. } = plan;
    let checkpoints = options.checkpoint.as_ref().map(|checkpoint| checkpoint.every);
    if options.reduction == Reduction::Adaptive {
        let searched = adaptive::search(model, properties, search, &mut Follower::new(control, checkpoints));
        let Searched { used, report } = match (searched, control.stop_reason()) {
            (Ok(searched), _) => searched,
            // Whatever it returned, it was interrupted.
            (Err(_), Some(reason)) => return Ok(stopped(plan, None, reason, control)),
            (Err(error), None) => return Err(error),
        };
        return Ok(Found::new(Some(Symmetries::of_adaptive(used)), report));
    }
    let (wish, terms) = terms(plan);
    if terms.detection.is_some() {
        control.enter(Phase::Detecting);
    }
    let phase = if options.cross_check { Phase::Comparing } else { Phase::Searching };
    let mut start = |method: Option<Arc<ReductionPlan>>, marks| {
        control.enter(phase);
        let (follower, options) = (Follower::new(control, checkpoints), search::within_memory(search, control));
        let pacing = Pacing { measure: Measure::Steps, marks: Some(marks) };
        search::begin(model, method, options, follower, pacing, control)
    };
    let question = Question { model, search, properties, wish, control };
    let finish = course::follow(&question, terms, &mut start)?;
    decided(plan, finish, control)
}

/// Which symmetries are looked for, and what may run beside the search.
fn terms(plan: &Plan) -> (Option<Wish>, Terms) {
    let Plan { model, options, properties, .. } = plan;
    // A comparison needs both searches, so ending early gains nothing. A search that is continued later must then be
    // the same search.
    let waits = options.cross_check || options.checkpoint.is_some() || options.resume.is_some();
    let is_open = (options.symmetry, options.reduction) == (Symmetry::Auto, Reduction::Auto);
    let (wish, patience) = match Wish::of(options.symmetry, options.reduction) {
        Some(_) if is_open && !waits => (Some(Wish::InSteps), Patience::Little),
        wish if waits => (wish, Patience::Unlimited),
        wish => (wish, Patience::Much),
    };
    let nodes = costs::nodes_in_each_state(model.ir(), properties);
    let terms = Terms {
        detection: wish.map(|_| DetectionTerms { patience, nodes }),
        tries_parts: partial_order::is_tried(plan),
        tries_adaptive: is_open && !options.statistics && adaptive::can_answer(plan),
        set: None,
    };
    (wish, terms)
}

/// The result of a search, or of what ran beside it and decides everything.
fn decided(
    plan: &Plan,
    finish: Finish<Result<quotient_search::Report, EngineError>>,
    control: &Control,
) -> Result<Found, Error> {
    let Finish { winner, symmetries, all_steps, violation, set: _ } = finish;
    let reduced = |symmetries: Option<Symmetries>, report: quotient_search::Report| Found {
        partial_order: Some(PartialOrderReport { unused: None }),
        ..Found::new(symmetries, report)
    };
    let report = match winner {
        Winner::Main(report) => report.map_err(|error| Error::of_engine(plan.model.source(), error))?,
        Winner::Parts(report) => return Ok(reduced(symmetries, *report)),
        Winner::Adaptive(searched) => {
            let Searched { used, report } = *searched;
            return Ok(Found::new(symmetries.map(|symmetries| symmetries.with_adaptive(used)), report));
        }
        Winner::Set(_) => unreachable!("sets are not tried beside a check"),
        Winner::Stopped(reason) => return Ok(stopped(plan, symmetries, reason, control)),
    };
    // A violation that is known need not be found by the search.
    Ok(match violation.filter(|_| report.verdict != Verdict::Violated) {
        Some(known) => reduced(symmetries, known),
        None => {
            let partial_order = all_steps.map(|reason| PartialOrderReport { unused: Some(reason) });
            Found { partial_order, ..Found::new(symmetries, report) }
        }
    })
}

#[cfg(test)]
mod tests;
