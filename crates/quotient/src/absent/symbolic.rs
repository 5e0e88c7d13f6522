//! In place of symbolic searches, in a build without the feature `sets`. The plan refuses what asks for them.

use quotient_graphs::TemporalReport;
use quotient_ir::PropertyId;
use quotient_search::{Run, SearchOptions, SymbolicReport};

use crate::control::Control;
use crate::engines::Optional;
use crate::error::Error;
use crate::found::Found;
use crate::model::Model;
use crate::plan::Plan;

/// Nothing is computed.
pub(crate) struct SetAnswer;

pub(crate) fn search(_plan: &Plan, _control: &Control) -> Result<Found, Error> {
    Err(Optional::Sets.refusal().into())
}

pub(crate) fn explore(
    _model: &Model,
    _search: &SearchOptions,
    _control: &Control,
    _bytes: u64,
) -> Result<(Found, Option<(u64, u64)>), Error> {
    Err(Optional::Sets.refusal().into())
}

/// Never begun.
pub(crate) fn start_set(_model: &Model, _search: &SearchOptions, _control: &Control) -> Option<Run<SetAnswer>> {
    None
}

pub(crate) fn whole_set(_model: &Model, _found: SetAnswer) -> Result<Option<SymbolicReport>, Error> {
    Ok(None)
}

pub(crate) fn counted(SymbolicReport { report, sets }: SymbolicReport) -> (Found, Option<(u64, u64)>) {
    let greatest = sets.greatest;
    (Found { sets: Some(sets), ..Found::new(None, report) }, greatest)
}

/// What the search of single states found: sets are not tried.
pub(crate) fn instead(_plan: &Plan, found: Found, _control: &Control) -> Result<Found, Error> {
    Ok(found)
}

pub(crate) fn check_tree(
    _plan: &Plan,
    _control: &Control,
    (_property, _found): (PropertyId, &Found),
) -> Result<TemporalReport, Error> {
    Err(Optional::Sets.refusal().into())
}
