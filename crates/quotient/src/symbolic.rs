//! Symbolic searches: the symmetries, the engine, and what is refused.

use std::ops::ControlFlow;

use quotient_graphs::TemporalReport;
use quotient_ir::{PropertyId, Source};
use quotient_search::{Engine as _, Pacing, Run, SearchOptions, SymbolicReport, Verdict, Way};
use quotient_sets::{OwnSymmetry, Saturation, Sets, SetsOfTrees, SymbolicError};

use crate::control::{Control, Follower, Limited, Phase};
use crate::detection::Symmetries;
use crate::error::Error;
use crate::found::{Found, symmetries_first};
use crate::model::Model;
use crate::options::{Options, Reduction, Symmetry};
use crate::plan::{Plan, Refusal};
use crate::schedule::trials;
use crate::search::{answer, within_memory};

/// Finds symmetries, and searches sets of states.
pub(crate) fn search(plan: &Plan, control: &Control) -> Result<Found, Error> {
    search_within(plan, control, u64::MAX)
}

/// The same, with diagrams of at most so many bytes.
fn search_within(plan: &Plan, control: &Control, bytes: u64) -> Result<Found, Error> {
    let Plan { model, options, search, .. } = plan;
    let (symmetry, way) = wish(options);
    let symmetries = match symmetries_first(plan, symmetry, control)? {
        ControlFlow::Continue(symmetries) => symmetries,
        ControlFlow::Break(found) => return Ok(found),
    };
    let used = used(symmetries.as_ref(), way);
    let mut search = within_memory(search, control);
    search.max_memory = search.max_memory.map(|room| room.min(bytes));
    let found = answer(Sets, model.job(search, used), Follower::new(control, None), control)?;
    let SymbolicReport { report, sets } = found.map_err(|error| error_of(plan, error))?;
    Ok(Found { sets: Some(sets), ..Found::new(symmetries, report) })
}

/// The set of all states of a model, without symmetries, with diagrams of at most so many bytes; and the most tokens in a
/// cell and in all, if it counts tokens.
pub(crate) fn explore(
    model: &Model,
    search: &SearchOptions,
    control: &Control,
    bytes: u64,
) -> Result<(Found, Option<(u64, u64)>), Error> {
    control.enter(Phase::Searching);
    let search = counting(search, control, bytes);
    let found = answer(Sets, model.job(search, None), Follower::new(control, None), control)?;
    Ok(counted(found.map_err(|error| refused(model.source(), error))?))
}

/// The options with which sets are counted, with diagrams of at most so many bytes.
fn counting(search: &SearchOptions, control: &Control, bytes: u64) -> SearchOptions {
    let search = within_memory(search, control);
    let max_memory = search.max_memory.map(|room| room.min(bytes));
    SearchOptions { statistics: false, max_states: None, max_memory, ..search }
}

/// What was found, and the most tokens in a cell and in all, if the model counts tokens.
pub(crate) fn counted(SymbolicReport { report, sets }: SymbolicReport) -> (Found, Option<(u64, u64)>) {
    let greatest = sets.greatest;
    (Found { sets: Some(sets), ..Found::new(None, report) }, greatest)
}

/// Tries sets if single states did not fit into memory: what has too many of them may have small diagrams. `found` is
/// what the search of single states found, and is returned if sets decide nothing.
pub(crate) fn instead(plan: &Plan, mut found: Found, control: &Control) -> Result<Found, Error> {
    let is_due = trials::sets_after(found.report.stop_reason.as_ref());
    let Some(by_sets) = plan.by_sets().filter(|_| is_due && control.stop_reason().is_none()) else {
        return Ok(found);
    };
    let states = found.report.states;
    let reason = match search_within(&by_sets, control, trials::SETS_BYTES) {
        Ok(mut tried) if tried.report.verdict != Verdict::Inconclusive => {
            tried
                .notes
                .push(format!("single states did not fit into memory after {states} of them: sets were searched"));
            return Ok(tried);
        }
        Ok(_) => "their diagrams are too large".to_owned(),
        Err(error @ Error::Internal(_)) => return Err(error),
        Err(error) => error.to_string(),
    };
    found.notes.push(format!("sets of states were tried, since single ones did not fit into memory: {reason}"));
    Ok(found)
}

/// Checks a formula of CTL. `found` is what the search of the states found, if there was one.
pub(crate) fn check_tree(
    plan: &Plan,
    control: &Control,
    (property, found): (PropertyId, &Found),
) -> Result<TemporalReport, Error> {
    let Plan { model, options, search, .. } = plan;
    let (symmetry, way) = wish(options);
    let own = match &found.symmetries {
        Some(_) => None,
        None => match symmetries_first(plan, symmetry, control)? {
            ControlFlow::Continue(symmetries) => symmetries,
            ControlFlow::Break(_) => None,
        },
    };
    let used = used(found.symmetries.as_ref().or(own.as_ref()), way);
    let job = model.job(within_memory(search, control), (property, used));
    answer(SetsOfTrees, job, Follower::new(control, None), control)?.map_err(|error| error_of(plan, error))
}

/// Which symmetries are wanted, and how they are used.
fn wish(options: &Options) -> (Symmetry, Option<Way>) {
    match options.reduction {
        Reduction::OfSets(way) => (options.symmetry, Some(way)),
        Reduction::None => (Symmetry::Off, None),
        _ => (options.symmetry, None),
    }
}

fn used(symmetries: Option<&Symmetries>, way: Option<Way>) -> Option<OwnSymmetry> {
    let group = symmetries.and_then(|symmetries| symmetries.group.as_ref());
    group.map(|group| OwnSymmetry { group: group.group.clone(), way })
}

fn error_of(plan: &Plan, error: SymbolicError) -> Error {
    refused(plan.model.source(), error)
}

fn refused(source: &Source, error: SymbolicError) -> Error {
    match error {
        SymbolicError::Engine(error) => Error::of_engine(source, error),
        SymbolicError::Refused { span, .. } => Error::unsupported(source, error.to_string(), span),
        error => Refusal::Engine(error.to_string()).into(),
    }
}

/// What the set of all states ends with.
pub(crate) type SetAnswer = Result<Option<SymbolicReport>, SymbolicError>;

/// Begins to compute the set of all states, without any work. None if there are too few resources.
pub(crate) fn start_set(model: &Model, search: &SearchOptions, control: &Control) -> Option<Run<SetAnswer>> {
    let options = counting(search, control, trials::SETS_BYTES);
    let (job, watched) = (model.job(options, ()), Limited(control.clone()));
    Saturation.start(job, watched, Pacing::WITHOUT_MARKS, control.interrupt()).ok()
}

/// The set of all states, if it was found.
pub(crate) fn whole_set(model: &Model, found: SetAnswer) -> Result<Option<SymbolicReport>, Error> {
    match found {
        Ok(report) => Ok(report.filter(|report| report.report.stop_reason.is_none())),
        Err(error) => match refused(model.source(), error) {
            error @ Error::Internal(_) => Err(error),
            _ => Ok(None),
        },
    }
}
