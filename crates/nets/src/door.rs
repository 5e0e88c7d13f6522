//! The door of nets: which goals are not reached.

use quotient_covering::{Certificate, MOST_WORK, VectorNet};
use quotient_ir::{Budget, PropertyId};
use quotient_search::defect::Defect;
use quotient_search::need::EngineKind;
use quotient_search::{Engine, Job, Observer, Pace};

use crate::comparison::difference;

/// What decides, in words.
pub const BY: &str = "the minimal coverability set (Karp and Miller)";

/// Decides properties whose goal no reachable marking of the net satisfies: the invariant holds, or the cover property is never
/// reached. `None` if it decides none of them.
#[derive(Clone, Copy, Debug)]
pub struct Coverability;

/// The properties decided, with the evidence.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The properties, in the order of the net.
    pub properties: Vec<PropertyId>,
    /// It covers all reachable markings, and no marking in it satisfies a goal of these properties.
    pub certificate: Certificate,
}

impl Engine for Coverability {
    type Question = Vec<PropertyId>;
    type Answer = Result<Option<Settled>, Defect>;

    fn kind(self) -> EngineKind {
        EngineKind::Nets
    }

    fn answer(self, job: &Job<Self::Question>, pace: &Pace<Self::Answer>, _: &mut dyn Observer) -> Self::Answer {
        let Some(net) = &job.model.net else { return Ok(None) };
        let asked = net.goals.iter().filter(|(property, _)| job.question.contains(property));
        if asked.clone().next().is_none() {
            return Ok(None);
        }
        let Some(certificate) = certificate(&net.vectors, &net.claimed, pace.budget()) else { return Ok(None) };
        let unreached = asked.filter(|(_, goal)| !certificate.may_reach(goal));
        let properties: Vec<PropertyId> = unreached.map(|(property, _)| *property).collect();
        if properties.is_empty() {
            return Ok(None);
        }
        match difference(&job.model, &job.layout, net, pace.budget()) {
            Ok(None) => Ok(Some(Settled { properties, certificate })),
            Ok(Some(what)) => {
                Err(Defect::noticed(format!("the net that the front end describes is not the model: {what}")))
            }
            // Out of budget, or interrupted.
            Err(_) => Ok(None),
        }
    }
}

/// A certificate: the claimed set if it passes the check, otherwise one computed here. `None` if that takes too much work.
fn certificate(net: &VectorNet, claimed: &[Vec<i64>], budget: &Budget) -> Option<Certificate> {
    let bounded = |mut left: u64| {
        move |work: u64| {
            left = left.checked_sub(work)?;
            budget.spend(work).ok()
        }
    };
    let certificate = Certificate::of(net, claimed.to_vec(), &mut bounded(MOST_WORK)).ok();
    certificate.or_else(|| net.cover(&mut bounded(MOST_WORK)).map(|found| found.certificate))
}
