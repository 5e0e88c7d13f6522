//! The symmetries that a search uses: detected on a separate thread, in parallel with an unreduced search if detection
//! takes long. All calls of detection are here.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_engines::{
    AdaptiveError, EngineError, Reduction as Method, ReductionPlan, SearchOptions, SymmetrySource, too_large,
};
use quotient_ir::{Budget, Interrupt, PropertyId};
use quotient_representatives::Strategy;
use quotient_symmetry::{Declared, Describer, Detection, DetectionError, PartialSymmetry, Preserved};

use crate::adaptive::AdaptiveUse;
use crate::clock;
use crate::control::{Control, Phase, STACK_BYTES};
use crate::defect::{self, Defect};
use crate::error::Error;
use crate::model::Model;
use crate::options::{Reduction, Symmetry};

/// How often a waiting thread checks whether to keep waiting.
const INTERVAL: Duration = Duration::from_millis(20);
/// The processor time a check spends waiting for symmetries before it also starts an unreduced search.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// The symmetries of a search and the reduction chosen for them.
pub(crate) struct Symmetries {
    /// What is known about them.
    pub(crate) plan: Option<ReductionPlan>,
    /// Why nothing is known, if so.
    pub(crate) unknown: &'static str,
    /// Generators in source terms.
    pub(crate) generators: Vec<Vec<String>>,
    /// The time taken to find them.
    pub(crate) elapsed: Duration,
    /// Details of adaptive reduction, if it was used.
    pub(crate) adaptive: Option<AdaptiveUse>,
}

/// The outcome of choosing a reduction.
pub(crate) enum Choice {
    /// The reduction is decided.
    Made(Box<Option<Symmetries>>),
    /// Detection exceeds the allowed waiting time.
    Pending(Pending),
}

/// What symmetries must preserve in addition to the behaviour.
pub(crate) struct ToPreserve {
    pub(crate) properties: Vec<PropertyId>,
    /// Whether run-time errors at different locations are distinguished.
    pub(crate) errors: bool,
    /// Whether it is counted how often rules fire.
    pub(crate) firings: bool,
}

impl ToPreserve {
    /// What a search must preserve beside the properties.
    pub(crate) fn of_search(properties: Vec<PropertyId>, search: &SearchOptions) -> Self {
        Self { properties, errors: search.violations.collects(), firings: search.statistics }
    }

    pub(crate) fn as_preserved(&self) -> Preserved<'_> {
        let Self { properties, errors, firings } = self;
        match (errors, firings) {
            (false, false) => Preserved::Properties(properties),
            (&errors, &firings) => Preserved::PropertiesAndSteps { properties, errors, firings },
        }
    }
}

impl From<Vec<PropertyId>> for ToPreserve {
    fn from(properties: Vec<PropertyId>) -> Self {
        Self { properties, errors: false, firings: false }
    }
}

/// A plan that is being computed.
pub(crate) struct Pending {
    model: Model,
    receiver: Receiver<Result<Result<ReductionPlan, EngineError>, Defect>>,
    /// Stops the computation when nobody waits for it any longer.
    interrupt: Interrupt,
    started: Instant,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.interrupt.raise();
    }
}

/// Finds the symmetries for a search, if it uses any, but waits no longer than `patience`. They preserve the given
/// properties, and always the assumptions.
pub(crate) fn choose(
    model: &Model,
    (symmetry, reduction): (Symmetry, Reduction),
    preserved: ToPreserve,
    control: &Control,
    patience: Option<Duration>,
) -> Result<Choice, Error> {
    let strategy = if let Reduction::By(strategy) = reduction { Some(strategy) } else { None };
    let source = match (symmetry, reduction) {
        (Symmetry::Off, _) | (_, Reduction::None) => return Ok(Choice::made_with(None)),
        (Symmetry::Auto, _) => SymmetrySource::Detected,
        (Symmetry::Declared, _) => SymmetrySource::Declared,
    };
    let (started, spent) = (Instant::now(), clock::of_process());
    let unknown = |reason| Ok(Choice::made_with(Some(Symmetries::unknown(reason, started))));
    control.enter(Phase::Detecting);
    let (sender, receiver) = mpsc::channel();
    let (shared, interrupt) = (model.clone(), Interrupt::new());
    let budget = Budget::until(&interrupt);
    let planning = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let found = defect::catch(|| plan(&shared, preserved.as_preserved(), source, strategy, &budget));
        // The receiver is gone if the result is no longer needed.
        let _ = sender.send(found);
    });
    if planning.is_err() {
        return unknown("not looked for, since there are too few resources");
    }
    let mut pending = Pending { model: model.clone(), receiver, interrupt, started };
    loop {
        if let Some(symmetries) = pending.wait(INTERVAL)? {
            return Ok(Choice::made_with(Some(symmetries)));
        }
        if control.check().is_some() {
            return Ok(Choice::made_with(Some(pending.give_up("not known, since the search for them was stopped"))));
        }
        // While this thread waits, all processor time is spent on detection.
        if patience.is_some_and(|patience| clock::of_process().saturating_sub(spent) >= patience) {
            return Ok(Choice::Pending(pending));
        }
    }
}

/// Symmetries, and how a search uses them.
fn plan(
    model: &Model,
    preserved: Preserved<'_>,
    source: SymmetrySource,
    strategy: Option<Strategy>,
    budget: &Budget,
) -> Result<ReductionPlan, EngineError> {
    quotient_engines::plan(model.ir(), model.layout(), preserved, source, strategy, budget)
}

/// All symmetries that preserve the properties.
pub(crate) fn detect(model: &Model, properties: &[PropertyId], budget: &Budget) -> Result<Detection, DetectionError> {
    quotient_symmetry::detect(model.ir(), model.layout(), properties, budget)
}

/// Those declared by scalarsets.
pub(crate) fn declared(model: &Model, properties: &[PropertyId], budget: &Budget) -> Result<Declared, DetectionError> {
    quotient_symmetry::declared(model.ir(), model.layout(), properties, budget)
}

/// What each rule distinguishes.
pub(crate) fn partial<'m>(
    model: &'m Model,
    properties: &[PropertyId],
    budget: &Budget,
) -> Result<PartialSymmetry<'m>, AdaptiveError> {
    Ok(PartialSymmetry::new(model.ir(), model.layout(), properties, budget)?)
}

impl Choice {
    fn made_with(symmetries: Option<Symmetries>) -> Self {
        Self::Made(Box::new(symmetries))
    }

    /// The symmetries, waiting as long as it takes.
    pub(crate) fn made(self) -> Option<Symmetries> {
        match self {
            Self::Made(symmetries) => *symmetries,
            Self::Pending(pending) => Some(pending.give_up("not known, since it took too long to find them")),
        }
    }
}

impl Pending {
    /// The symmetries, if they are found soon.
    pub(crate) fn wait(&mut self, patience: Duration) -> Result<Option<Symmetries>, Error> {
        match self.receiver.recv_timeout(patience) {
            Ok(Ok(Ok(plan))) => Ok(Some(Symmetries::known(&self.model, plan, self.started))),
            Ok(Ok(Err(EngineError::GaveUp(_)))) if too_large(self.model.ir()).is_some() => {
                Ok(Some(self.give_up("the text shows none, and the model is too large for more")))
            }
            Ok(Ok(Err(error))) => Err(Error::of_engine(self.model.source(), error)),
            Ok(Err(defect)) => Err(defect.into()),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(defect::recorded().into()),
        }
    }

    /// What is known without waiting any longer.
    pub(crate) fn give_up(&self, reason: &'static str) -> Symmetries {
        Symmetries::unknown(reason, self.started)
    }
}

impl Symmetries {
    /// The symmetries of a plan.
    pub(crate) fn known(model: &Model, plan: ReductionPlan, started: Instant) -> Self {
        let group = &plan.symmetry.group;
        let describer = Describer::new(model.ir(), model.layout(), group.literals());
        let generators = group.maps().iter().map(|map| describer.describe(map).cycles()).collect();
        Self { plan: Some(plan), unknown: "", generators, elapsed: started.elapsed(), adaptive: None }
    }

    pub(crate) fn unknown(reason: &'static str, started: Instant) -> Self {
        Self { plan: None, unknown: reason, generators: Vec::new(), elapsed: started.elapsed(), adaptive: None }
    }

    /// The adaptive reduction of a model whose symmetries were not computed.
    pub(crate) fn of_adaptive(adaptive: AdaptiveUse) -> Self {
        let elapsed = adaptive.elapsed;
        let unknown = "not looked for as a whole";
        Self { plan: None, unknown, generators: Vec::new(), elapsed, adaptive: Some(adaptive) }
    }

    /// The same symmetries, with adaptive reduction instead of a reduction by them.
    pub(crate) fn with_adaptive(self, adaptive: AdaptiveUse) -> Self {
        Self { elapsed: self.elapsed + adaptive.elapsed, adaptive: Some(adaptive), ..self }
    }

    /// The number of symmetries, if it is known.
    pub(crate) fn order(&self) -> Option<&BigUint> {
        self.plan.as_ref().map(|plan| &plan.symmetry.order)
    }

    /// Adds what was found out later about the same symmetries.
    pub(crate) fn complete_by(&mut self, later: &Self) {
        let (Some(plan), Some(later)) = (&mut self.plan, &later.plan) else { return };
        if plan.symmetry.order == later.symmetry.order {
            plan.symmetry.complete = later.symmetry.complete;
            plan.symmetry.property_cost.clone_from(&later.symmetry.property_cost);
        }
    }

    /// The same symmetries, without a reduction by them.
    pub(crate) fn unused(mut self, reason: &str) -> Self {
        if let Some(plan) = &mut self.plan {
            reason.clone_into(&mut plan.method);
            (plan.reduction, plan.liveness_searches) = (None, Vec::new());
        }
        self
    }

    /// The reduction by the symmetries of the whole model, if there is one.
    pub(crate) fn reduction(&self) -> Option<&Method> {
        self.plan.as_ref()?.reduction.as_ref()
    }

    /// Whether a reduction is in use.
    pub(crate) fn reduces(&self) -> bool {
        self.adaptive.is_some() || self.reduction().is_some()
    }
}
