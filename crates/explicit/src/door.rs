//! The door of explicit search.

use std::sync::Arc;

use quotient_search::need::EngineKind;
use quotient_search::{Engine, EngineError, Job, Observer, Pace, Report};
use quotient_systems::ReductionPlan;

use crate::check::check;

/// Searches states one by one: all of them, or one of each orbit as planned.
#[derive(Clone, Copy, Debug)]
pub struct Explicit;

impl Engine for Explicit {
    type Question = Option<Arc<ReductionPlan>>;
    type Answer = Result<Report, EngineError>;

    fn kind(self) -> EngineKind {
        EngineKind::Explicit
    }

    fn answer(self, job: &Job<Self::Question>, _: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer {
        check(&job.model, &job.layout, job.question.as_deref(), &job.options, observer)
    }
}
