//! Checks by a solver: the symmetries, the engine, and what is refused.

use std::ops::ControlFlow;

use quotient_proofs::{Operators, ProofQuestion, Proofs, SolverReport};
use quotient_search::SolverMethod;

use crate::control::{Control, Follower};
use crate::error::Error;
use crate::found::{Found, symmetries_first};
use crate::languages::Language;
use crate::options::{Reduction, Symmetry};
use crate::plan::Plan;
use crate::report::ProofReport;
use crate::search::{answer, within_memory};

/// Finds symmetries, and asks a solver.
pub(crate) fn search(plan: &Plan, method: SolverMethod, control: &Control) -> Result<Found, Error> {
    let Plan { model, options, search, .. } = plan;
    let symmetry = if options.reduction == Reduction::None { Symmetry::Off } else { options.symmetry };
    let symmetries = match symmetries_first(plan, symmetry, control)? {
        ControlFlow::Continue(symmetries) => symmetries,
        ControlFlow::Break(found) => return Ok(found),
    };
    let group = symmetries.as_ref().and_then(|symmetries| symmetries.group.as_ref()).map(|group| group.group.clone());
    let job = model.job(within_memory(search, control), ProofQuestion { method, group });
    let found = answer(Proofs, job, Follower::new(control, None), control)?
        .map_err(|error| Error::of_engine(model.source(), error))?;
    let SolverReport { report, method, gates, queries, clauses, depth, generators: _, invariant } = found;
    let operators = match model.language() {
        Some(Language::Murphi) | None => Operators::MURPHI,
        Some(Language::B) => Operators::B,
        Some(Language::Promela | Language::Dve | Language::Csp | Language::Pnml) => Operators::C,
    };
    let invariant = invariant.map(|invariant| invariant.lines(model.ir(), model.layout(), operators));
    let proof = ProofReport { method, gates, queries, clauses, depth, invariant };
    Ok(Found { proof: Some(proof), ..Found::new(symmetries, report) })
}
