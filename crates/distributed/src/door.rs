//! The door of searches on several machines.

use std::sync::Arc;

use quotient_search::need::EngineKind;
use quotient_search::{Engine, EngineError, Job, Observer, Pace, Report};
use quotient_systems::ReductionPlan;

use crate::{Network, check_distributed};

/// Searches states together with other processes.
#[derive(Clone, Copy, Debug)]
pub struct Distributed;

/// What the processes search.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The reduction, if there is one.
    pub plan: Option<Arc<ReductionPlan>>,
    /// The other processes.
    pub network: Arc<Network>,
}

impl Engine for Distributed {
    type Question = Shared;
    type Answer = Result<Report, EngineError>;

    fn kind(self) -> EngineKind {
        EngineKind::Distributed
    }

    fn without_marks(self) -> Option<&'static str> {
        Some("other processes do not wait for this one to decide something")
    }

    fn answer(self, job: &Job<Self::Question>, _: &Pace<Self::Answer>, observer: &mut dyn Observer) -> Self::Answer {
        let Shared { plan, network } = &job.question;
        check_distributed(&job.model, &job.layout, plan.as_deref(), network, &job.options, observer)
    }
}
