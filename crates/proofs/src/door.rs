//! The door of proofs by a solver.

use quotient_search::need::EngineKind;
use quotient_search::{Engine, EngineError, Job, Observer, Pace};
use quotient_symmetry::CertifiedGroup;

use crate::{SolverMethod, SolverReport, check_by_solver};

/// Asks a solver.
#[derive(Clone, Copy, Debug)]
pub struct Proofs;

/// How a solver proves and refutes.
#[derive(Clone, Debug)]
pub struct ProofQuestion {
    /// The method.
    pub method: SolverMethod,
    /// Symmetries that preserve what is checked.
    pub group: Option<CertifiedGroup>,
}

impl Engine for Proofs {
    type Question = ProofQuestion;
    type Answer = Result<SolverReport, EngineError>;

    fn kind(self) -> EngineKind {
        EngineKind::Proofs
    }

    fn answer(self, job: &Job<Self::Question>, _: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer {
        let ProofQuestion { method, group } = &job.question;
        check_by_solver(&job.model, &job.layout, group.as_ref(), *method, &job.options, observer)
    }
}
