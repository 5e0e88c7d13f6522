//! The doors of counted objects.

use std::sync::Arc;

use quotient_graphs::TemporalReport;
use quotient_ir::PropertyId;
use quotient_search::need::EngineKind;
use quotient_search::{Engine, Job, Observer, Pace};
use quotient_symmetry::TextSymmetries;

use crate::{CountersBounds, CountersError, CountersReport, check_by_counters, check_temporal_by_counters};

/// Counts how many interchangeable objects are in which local state.
#[derive(Clone, Copy, Debug)]
pub struct Counters;

/// Decides a temporal property on counted objects.
#[derive(Clone, Copy, Debug)]
pub struct CountedRuns;

/// What is counted, and how far.
#[derive(Clone, Debug)]
pub struct CountersQuestion {
    /// What the text shows to be interchangeable.
    pub text: Arc<TextSymmetries>,
    /// Bounds beside those of the options.
    pub bounds: CountersBounds,
}

impl Engine for Counters {
    type Question = CountersQuestion;
    type Answer = Result<CountersReport, CountersError>;

    fn kind(self) -> EngineKind {
        EngineKind::Counters
    }

    fn answer(self, job: &Job<Self::Question>, _: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer {
        let CountersQuestion { text, bounds } = &job.question;
        check_by_counters(&job.model, &job.layout, text, (&job.options, *bounds), observer)
    }
}

impl Engine for CountedRuns {
    type Question = PropertyId;
    type Answer = Result<TemporalReport, CountersError>;

    fn kind(self) -> EngineKind {
        EngineKind::Counters
    }

    fn answer(self, job: &Job<Self::Question>, _: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer {
        check_temporal_by_counters(&job.model, &job.layout, job.question, &job.options, observer)
    }
}
