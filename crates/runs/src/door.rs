//! The door of searches for runs.

use quotient_graphs::TemporalReport;
use quotient_ir::PropertyId;
use quotient_search::need::EngineKind;
use quotient_search::{Engine, EngineError, Job, Observer, Pace};
use quotient_systems::SymmetrySource;

use crate::check_temporal;

/// Searches for a run that violates a temporal property.
#[derive(Clone, Copy, Debug)]
pub struct Runs;

/// What is asked about runs.
#[derive(Clone, Copy, Debug)]
pub struct RunQuestion {
    /// The temporal property.
    pub property: PropertyId,
    /// Which symmetries are used, if any.
    pub symmetries: Option<SymmetrySource>,
}

impl Engine for Runs {
    type Question = RunQuestion;
    type Answer = Result<TemporalReport, EngineError>;

    fn kind(self) -> EngineKind {
        EngineKind::Runs
    }

    fn answer(self, job: &Job<Self::Question>, _: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer {
        let RunQuestion { property, symmetries } = job.question;
        check_temporal(&job.model, &job.layout, property, symmetries, &job.options, observer)
    }
}
