//! Symbolic searches: the symmetries, the engine, and what is refused.

use std::ops::ControlFlow;

use quotient_engines::{SymbolicError, SymbolicReport, SymbolicSymmetry, check_symbolic};

use crate::control::{Control, Follower};
use crate::error::Error;
use crate::options::{Reduction, Symmetry};
use crate::plan::{Plan, Refusal};
use crate::run::{Found, symmetries_first};
use crate::search::within_memory;

/// Finds symmetries, and searches sets of states.
pub(crate) fn search(plan: &Plan, control: &Control) -> Result<Found, Error> {
    let Plan { model, options, search, .. } = plan;
    let (symmetry, way) = match options.reduction {
        Reduction::OfSets(way) => (options.symmetry, Some(way)),
        Reduction::None => (Symmetry::Off, None),
        _ => (options.symmetry, None),
    };
    let symmetries = match symmetries_first(plan, symmetry, control)? {
        ControlFlow::Continue(symmetries) => symmetries,
        ControlFlow::Break(found) => return Ok(found),
    };
    let group = symmetries.as_ref().and_then(|symmetries| symmetries.plan.as_ref()).map(|plan| &plan.symmetry.group);
    let used = group.map(|group| SymbolicSymmetry { group, way });
    let mut follower = Follower::new(control, None);
    let search = within_memory(search, control);
    let found = check_symbolic(model.ir(), model.layout(), used, &search, &mut follower);
    let SymbolicReport { report, sets } = match found {
        Ok(found) => found,
        Err(SymbolicError::Engine(error)) => return Err(Error::of_engine(model.source(), error)),
        Err(error @ SymbolicError::Refused { span, .. }) => {
            return Err(Error::unsupported(model.source(), error.to_string(), span));
        }
        Err(error) => return Err(Refusal::Engine(error.to_string()).into()),
    };
    Ok(Found { sets: Some(sets), ..Found::new(symmetries, report) })
}
