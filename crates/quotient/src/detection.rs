//! Calls of detection: the symmetries that a search uses, found on a run of their own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use num_bigint::BigUint;
use quotient_ir::{Budget, Interrupt, PropertyId};
use quotient_representatives::Strategy;
use quotient_search::{EngineError, Pace, Run, SearchOptions, Step};
use quotient_symmetry::{Declared, Describer, Detection, DetectionError, Preserved};
use quotient_systems::{Reduction as Method, Symmetry as Group};
use quotient_systems::{ReductionPlan, SymmetrySource, plan_in_steps, too_large};

use crate::adaptive::AdaptiveUse;
use crate::clock;
use crate::control::{Control, Phase};
use crate::error::Error;
use crate::model::Model;
use crate::options::{Reduction, Symmetry};

/// With fewer symmetries than this, a search is at most so much smaller: representatives must be cheap.
const FEW_SYMMETRIES: u32 = 4;
/// The number of slots that a few symmetries may move. All of them are compared where parts of a state look alike, at
/// some nanoseconds each; a step takes about a hundred.
const FEW_SLOTS: usize = 24;

/// The symmetries of a search and the reduction chosen for them.
#[derive(Clone)]
pub(crate) struct Symmetries {
    /// The group, if it is known.
    pub(crate) group: Option<Group>,
    /// How they are used, if they are.
    plan: Option<Arc<ReductionPlan>>,
    /// How representatives are found, or why there are none.
    pub(crate) method: String,
    /// Why nothing is known, if so.
    pub(crate) unknown: &'static str,
    /// Generators in source terms.
    pub(crate) generators: Vec<Vec<String>>,
    /// The time taken to find them.
    pub(crate) elapsed: Duration,
    /// Details of adaptive reduction, if it was used.
    pub(crate) adaptive: Option<AdaptiveUse>,
}

/// What symmetries must preserve in addition to the behaviour.
#[derive(Clone)]
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

    fn as_preserved(&self) -> Preserved<'_> {
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

/// Which symmetries are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// All that can be found, those that the text shows first.
    InSteps,
    /// Those of a source, for a strategy if one was asked for.
    Of(SymmetrySource, Option<Strategy>),
}

impl Wish {
    /// What options ask for; none if no symmetries are to be used.
    pub(crate) fn of(symmetry: Symmetry, reduction: Reduction) -> Option<Self> {
        let strategy = if let Reduction::By(strategy) = reduction { Some(strategy) } else { None };
        match (symmetry, reduction) {
            (Symmetry::Off, _) | (_, Reduction::None) => None,
            (Symmetry::Auto, _) => Some(Self::Of(SymmetrySource::Detected, strategy)),
            (Symmetry::Declared, _) => Some(Self::Of(SymmetrySource::Declared, strategy)),
        }
    }
}

/// Detection, as far as it has got.
pub(crate) struct Search {
    model: Model,
    run: Option<Run<News>>,
    interrupt: Interrupt,
    started: Instant,
    /// How long the search of states had to wait before it began.
    before: Option<Duration>,
}

/// What detection found, and the processor time that it took.
type News = (Answer, Duration);

enum Answer {
    /// The symmetries that the text shows; there may be more.
    Text(Box<ReductionPlan>),
    All(Result<Box<ReductionPlan>, EngineError>),
}

/// What is new.
pub(crate) enum Found {
    /// Nothing: it needs more work.
    Nothing,
    /// The symmetries that the text shows; there may be more.
    Some(Symmetries),
    /// All symmetries. Detection is over.
    All(Symmetries),
}

impl Search {
    /// Begins to look for the symmetries that preserve something.
    pub(crate) fn start(model: &Model, wish: Wish, preserved: ToPreserve, interrupt: &Interrupt) -> Self {
        let job = model.clone();
        let work = move |pace: &Pace<News>| {
            let (ir, layout, budget) = (job.ir(), job.layout(), pace.budget());
            let text = |plan| pace.tell((Answer::Text(Box::new(plan)), clock::of_thread()));
            let all = match wish {
                Wish::InSteps => plan_in_steps(ir, layout, preserved.as_preserved(), budget, text),
                Wish::Of(source, strategy) => {
                    quotient_systems::plan(ir, layout, preserved.as_preserved(), source, strategy, budget)
                }
            };
            (Answer::All(all.map(Box::new)), clock::of_thread())
        };
        let run = Run::start(interrupt, work);
        Self { model: model.clone(), run, interrupt: interrupt.clone(), started: Instant::now(), before: None }
    }

    /// Lets it go on until it has done this much work in all.
    ///
    /// # Errors
    /// If there is a defect in this program, or the model cannot be encoded.
    pub(crate) fn advance(&mut self, total: u64) -> Result<Found, Error> {
        let mut found = Found::Nothing;
        while let Some(run) = &mut self.run {
            match run.advance_until_interrupted(total) {
                // It gave up because everything is stopped, which says nothing about the model.
                Step::Done(Ok((Answer::All(Err(EngineError::GaveUp(_))), _))) if self.interrupt.is_raised() => break,
                Step::Partial(news) | Step::Done(Ok(news)) => found = self.symmetries(news)?,
                Step::Done(Err(defect)) => return Err(defect.into()),
                Step::Working(_) => break,
            }
            if let Found::All(_) = found {
                self.run = None;
            }
        }
        self.before.get_or_insert_with(|| self.started.elapsed());
        Ok(found)
    }

    /// Whether it could not begin, since there were too few resources.
    pub(crate) fn is_over(&self) -> bool {
        self.run.is_none()
    }

    fn symmetries(&self, (answer, elapsed): News) -> Result<Found, Error> {
        // The time since the beginning would include that of a search.
        let known = |plan: ReductionPlan| Symmetries { elapsed, ..Symmetries::known(&self.model, plan) };
        match answer {
            Answer::Text(plan) => Ok(Found::Some(known(*plan))),
            Answer::All(Ok(plan)) => Ok(Found::All(known(*plan))),
            Answer::All(Err(EngineError::GaveUp(_))) if too_large(self.model.ir()).is_some() => {
                let reason = "the text shows none, and the model is too large for more";
                Ok(Found::All(Symmetries { elapsed, ..Symmetries::unknown(reason, self.started) }))
            }
            Answer::All(Err(error)) => Err(Error::of_engine(self.model.source(), error)),
        }
    }

    /// What to say if everything is over first.
    pub(crate) fn unknown(&self, reason: &'static str) -> Symmetries {
        let elapsed = self.before.unwrap_or_else(|| self.started.elapsed());
        Symmetries { elapsed, ..Symmetries::unknown(reason, self.started) }
    }
}

/// What to say if there is no thread for detection.
pub(crate) const TOO_FEW_RESOURCES: &str = "not looked for, since there are too few resources";
/// What to say if everything was stopped before detection was over.
pub(crate) const STOPPED: &str = "not known, since the search for them was stopped";

/// Finds the symmetries for a search, if it uses any, whatever that takes. They preserve the given properties, and always
/// the assumptions.
///
/// # Errors
/// If there is a defect in this program, or the model cannot be encoded.
pub(crate) fn find(
    model: &Model,
    (symmetry, reduction): (Symmetry, Reduction),
    preserved: ToPreserve,
    control: &Control,
) -> Result<Option<Symmetries>, Error> {
    let Some(wish) = Wish::of(symmetry, reduction) else { return Ok(None) };
    control.enter(Phase::Detecting);
    let mut search = Search::start(model, wish, preserved, control.interrupt());
    if search.is_over() {
        return Ok(Some(search.unknown(TOO_FEW_RESOURCES)));
    }
    Ok(Some(match search.advance(u64::MAX)? {
        Found::Some(symmetries) | Found::All(symmetries) => symmetries,
        Found::Nothing => search.unknown(STOPPED),
    }))
}

/// All symmetries that preserve the properties.
pub(crate) fn detect(model: &Model, properties: &[PropertyId], budget: &Budget) -> Result<Detection, DetectionError> {
    quotient_symmetry::detect(model.ir(), model.layout(), properties, budget)
}

/// Those declared by scalarsets.
pub(crate) fn declared(model: &Model, properties: &[PropertyId], budget: &Budget) -> Result<Declared, DetectionError> {
    quotient_symmetry::declared(model.ir(), model.layout(), properties, budget)
}

impl Symmetries {
    /// The symmetries of a plan.
    fn known(model: &Model, plan: ReductionPlan) -> Self {
        let group = &plan.symmetry.group;
        let describer = Describer::new(model.ir(), model.layout(), group.literals());
        let generators = group.maps().iter().map(|map| describer.describe(map).cycles()).collect();
        let (group, method) = (Some(plan.symmetry.clone()), plan.method.clone());
        let (elapsed, plan) = (Duration::ZERO, Some(Arc::new(plan)));
        Self { group, plan, method, unknown: "", generators, elapsed, adaptive: None }
    }

    pub(crate) fn unknown(reason: &'static str, started: Instant) -> Self {
        Self {
            group: None,
            plan: None,
            method: String::new(),
            unknown: reason,
            generators: Vec::new(),
            elapsed: started.elapsed(),
            adaptive: None,
        }
    }

    /// The adaptive reduction of a model whose symmetries were not computed.
    pub(crate) fn of_adaptive(adaptive: AdaptiveUse) -> Self {
        let unknown = Self::unknown("not looked for as a whole", Instant::now());
        Self { elapsed: adaptive.elapsed, adaptive: Some(adaptive), ..unknown }
    }

    /// The same symmetries, with adaptive reduction instead of a reduction by them.
    pub(crate) fn with_adaptive(self, adaptive: AdaptiveUse) -> Self {
        Self { elapsed: self.elapsed + adaptive.elapsed, adaptive: Some(adaptive), ..self }
    }

    /// The number of symmetries, if it is known.
    pub(crate) fn order(&self) -> Option<&BigUint> {
        self.group.as_ref().map(|group| &group.order)
    }

    /// Adds what was found out later about the same symmetries.
    pub(crate) fn complete_by(&mut self, later: &Self) {
        let (Some(group), Some(later)) = (&mut self.group, &later.group) else { return };
        if group.order == later.order {
            group.complete = later.complete;
            group.property_cost.clone_from(&later.property_cost);
        }
    }

    /// The same symmetries, without a reduction by them.
    pub(crate) fn unused(mut self, reason: &str) -> Self {
        if self.group.is_some() {
            reason.clone_into(&mut self.method);
            self.plan = None;
        }
        self
    }

    /// The same symmetries, without a reduction by them if that would take longer than it saves.
    pub(crate) fn worthwhile(self) -> Self {
        let Some(group) = self.group.as_ref().filter(|_| self.reduction().is_some()) else { return self };
        if group.order >= BigUint::from(FEW_SYMMETRIES) {
            return self;
        }
        let moves = group.group.maps().iter().flat_map(|map| map.moves());
        let moved: BTreeSet<_> = moves.map(|slot_move| slot_move.from).collect();
        match moved.len() > FEW_SLOTS {
            true => self.unused("not used: representatives would take longer than they save (--reduction canonical)"),
            false => self,
        }
    }

    /// How a search uses them, if it does.
    pub(crate) fn plan(&self) -> Option<&Arc<ReductionPlan>> {
        self.plan.as_ref()
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
