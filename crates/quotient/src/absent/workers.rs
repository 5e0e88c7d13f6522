//! In place of the search on several machines, in a build without the feature `workers`. The plan refuses what asks for it.

use quotient_search::{Membership, SearchOptions};

use crate::control::{Control, Follower};
use crate::detection::{Symmetries, ToPreserve};
use crate::engines::Optional;
use crate::error::Error;
use crate::found::Found;
use crate::model::Model;
use crate::options::{Reduction, Symmetry};
use crate::plan::Plan;

pub(crate) fn check(_plan: &Plan, _membership: &Membership, _control: &Control) -> Result<Found, Error> {
    Err(Optional::Workers.refusal().into())
}

/// As with the feature. Never constructed.
#[expect(dead_code, reason = "callers distinguish both outcomes")]
pub(crate) enum Conducted {
    Searched(Box<Found>),
    Stopped(Box<Option<Symmetries>>),
}

pub(crate) fn conduct(
    _model: &Model,
    (_membership, _facts): (&Membership, &[(String, String)]),
    _search: &SearchOptions,
    (_wish, _preserved): ((Symmetry, Reduction), ToPreserve),
    _control: &Control,
    _follower: Follower,
) -> Result<Conducted, Error> {
    Err(Optional::Workers.refusal().into())
}

pub(crate) fn facts_of_model(_model: &Model) -> Vec<(String, String)> {
    Vec::new()
}
