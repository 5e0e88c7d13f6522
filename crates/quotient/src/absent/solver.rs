//! In place of checks by a solver, in a build without the feature `proofs`. The plan refuses what asks for them.

use quotient_search::SolverMethod;

use crate::control::Control;
use crate::engines::Optional;
use crate::error::Error;
use crate::found::Found;
use crate::plan::Plan;

pub(crate) fn search(_plan: &Plan, _method: SolverMethod, _control: &Control) -> Result<Found, Error> {
    Err(Optional::Proofs.refusal().into())
}
