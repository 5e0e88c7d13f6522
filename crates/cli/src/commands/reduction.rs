//! The choice of a reduction for a search: which symmetries there are, and how to use them.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use quotient_engines::{EngineError, Plan, Reduction, SymmetrySource, plan, too_large};
use quotient_ir::PropertyId;
use quotient_symmetry::{Describer, Strategy};

use crate::arguments::{ReductionName, SymmetryName};
use crate::commands::adaptive::AdaptiveUse;
use crate::commands::engine_failure;
use crate::failure::Failure;
use crate::load::LoadedModel;
use crate::watch::{Watch, time_spent};

/// How often detection is interrupted to see whether somebody wants to stop.
const INTERVAL: Duration = Duration::from_millis(20);
/// How much processor time `check` waits for symmetries before it also searches without them.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// Detection follows the nesting of the text.
pub(super) const STACK_BYTES: usize = 256 << 20;

/// The symmetries of a search and what is made of them.
pub(crate) struct Symmetries {
    /// What is known about them.
    pub(crate) plan: Option<Plan>,
    /// Why nothing is known, if that is so.
    pub(crate) unknown: &'static str,
    /// Generators in source terms.
    pub(crate) generators: Vec<Vec<String>>,
    /// How long it took to find them.
    pub(crate) elapsed: Duration,
    /// How adaptive reduction went about it, if that is what was used.
    pub(crate) adaptive: Option<AdaptiveUse>,
}

/// What came of the wish to use symmetries.
pub(super) enum Choice {
    /// It is known what to do.
    Made(Box<Option<Symmetries>>),
    /// It takes longer than one wants to wait.
    Pending(Pending),
}

/// A plan in the making.
pub(super) struct Pending {
    loaded: Arc<LoadedModel>,
    receiver: Receiver<Result<Plan, EngineError>>,
    planning: Option<JoinHandle<()>>,
    started: Instant,
}

/// Finds the symmetries that a search is to use, if it is to use any, but does not wait longer than
/// `patience`. They preserve the given properties, and the assumptions in any case.
pub(super) fn choose(
    loaded: &Arc<LoadedModel>,
    (symmetry, reduction): (SymmetryName, ReductionName),
    properties: Vec<PropertyId>,
    watch: &Watch,
    patience: Option<Duration>,
) -> Result<Choice, Failure> {
    let strategy = match reduction {
        ReductionName::Auto | ReductionName::None | ReductionName::Adaptive => None,
        ReductionName::Canonical => Some(Strategy::Canonical),
        ReductionName::Sorted => Some(Strategy::Sorted),
        ReductionName::Segmented => Some(Strategy::Segmented),
        ReductionName::LocalSearch => Some(Strategy::LocalSearch),
        ReductionName::Flooding => Some(Strategy::Flooding),
        ReductionName::Markers => Some(Strategy::Markers),
        ReductionName::MarkersTrees => Some(Strategy::MarkersTrees),
        ReductionName::MarkersCanonical => Some(Strategy::MarkersCanonical),
    };
    let source = match (symmetry, strategy) {
        (SymmetryName::Off, Some(strategy)) => {
            return Err(Failure::Usage(format!("--reduction {strategy} needs symmetries: add --symmetry auto")));
        }
        (SymmetryName::Off, None) => return Ok(Choice::made_with(None)),
        _ if reduction == ReductionName::None => return Ok(Choice::made_with(None)),
        (SymmetryName::Auto, _) => SymmetrySource::Detected,
        (SymmetryName::Declared, _) => SymmetrySource::Declared,
    };
    let (started, spent) = (Instant::now(), time_spent());
    if too_large(&loaded.model).is_some() {
        return Ok(Choice::made_with(Some(Symmetries::unknown(
            "not looked for, since the model is too large",
            started,
        ))));
    }
    watch.announce("looking for symmetries");
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::clone(loaded);
    let planning = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // Nobody listens if it is not needed any more; then the program is about to end.
        let _ = sender.send(plan(
            &shared.model,
            &shared.layout,
            &properties,
            source,
            strategy,
            &quotient_ir::Budget::unlimited(),
        ));
    });
    let Ok(planning) = planning else {
        return Ok(Choice::made_with(Some(Symmetries::unknown(
            "not looked for, since there are too few resources",
            started,
        ))));
    };
    let mut pending = Pending { loaded: Arc::clone(loaded), receiver, planning: Some(planning), started };
    loop {
        if let Some(symmetries) = pending.wait(INTERVAL)? {
            return Ok(Choice::made_with(Some(symmetries)));
        }
        if watch.stop_reason().is_some() {
            return Ok(Choice::made_with(Some(pending.give_up("not known, since the search for them was stopped"))));
        }
        // While this thread waits, whatever is spent is spent on symmetries.
        if patience.is_some_and(|patience| time_spent().saturating_sub(spent) >= patience) {
            return Ok(Choice::Pending(pending));
        }
    }
}

impl Choice {
    fn made_with(symmetries: Option<Symmetries>) -> Self {
        Self::Made(Box::new(symmetries))
    }

    /// The symmetries, of somebody who waited for them.
    pub(super) fn made(self) -> Option<Symmetries> {
        match self {
            Self::Made(symmetries) => *symmetries,
            Self::Pending(pending) => Some(pending.give_up("not known, since it took too long to find them")),
        }
    }
}

impl Pending {
    /// The symmetries, if they are found soon.
    pub(super) fn wait(&mut self, patience: Duration) -> Result<Option<Symmetries>, Failure> {
        match self.receiver.recv_timeout(patience) {
            Ok(Ok(plan)) => {
                let group = &plan.symmetry.group;
                let LoadedModel { model, layout, .. } = &*self.loaded;
                let describer = Describer::new(model, layout, group.literals());
                let generators = group.maps().iter().map(|map| describer.describe(map).cycles()).collect();
                let elapsed = self.started.elapsed();
                Ok(Some(Symmetries { plan: Some(plan), unknown: "", generators, elapsed, adaptive: None }))
            }
            Ok(Err(error)) => Err(engine_failure(&self.loaded.model.source, error)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => match self.planning.take().map(JoinHandle::join) {
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                _ => unreachable!("a plan that was made was sent"),
            },
        }
    }

    /// What is known without waiting any longer.
    pub(super) fn give_up(self, reason: &'static str) -> Symmetries {
        Symmetries::unknown(reason, self.started)
    }
}

/// The properties that a search checks; all if none are selected.
pub(super) fn checked_properties(loaded: &LoadedModel, selected: Option<&[PropertyId]>) -> Vec<PropertyId> {
    let properties = loaded.model.properties.iter_enumerated();
    properties
        .filter(|(id, property)| property.kind.is_claim() && selected.is_none_or(|selected| selected.contains(id)))
        .map(|(id, _)| id)
        .collect()
}

impl Symmetries {
    fn unknown(reason: &'static str, started: Instant) -> Self {
        Self { plan: None, unknown: reason, generators: Vec::new(), elapsed: started.elapsed(), adaptive: None }
    }

    /// What adaptive reduction made of a model that was not looked at otherwise.
    pub(super) fn of_adaptive(adaptive: AdaptiveUse) -> Self {
        let elapsed = adaptive.elapsed;
        let unknown = "not looked for as a whole";
        Self { plan: None, unknown, generators: Vec::new(), elapsed, adaptive: Some(adaptive) }
    }

    /// The same symmetries, with adaptive reduction in place of a reduction by them.
    pub(super) fn with_adaptive(self, adaptive: AdaptiveUse) -> Self {
        Self { elapsed: self.elapsed + adaptive.elapsed, adaptive: Some(adaptive), ..self }
    }

    /// The name of the reduction in use.
    pub(crate) fn reduction_name(&self) -> &'static str {
        if self.adaptive.is_some() {
            return "adaptive";
        }
        let reduction = self.plan.as_ref().and_then(|plan| plan.reduction.as_ref());
        reduction.map_or("none", |reduction| reduction.strategy().name())
    }

    /// Whether a reduction is in use.
    pub(crate) fn reduces(&self) -> bool {
        self.adaptive.is_some() || self.plan.as_ref().is_some_and(|plan| plan.reduction.is_some())
    }

    /// Whether nothing is approximated.
    pub(crate) fn is_exact(&self) -> bool {
        if self.adaptive.is_some() {
            return true;
        }
        let reduction = self.plan.as_ref().and_then(|plan| plan.reduction.as_ref());
        reduction.is_none_or(Reduction::is_exact)
    }
}
