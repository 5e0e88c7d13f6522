//! Options validated against a model: whatever does not work is refused here, with a reason, and nothing is ignored.
//!
//! What goes together is decided by one table, [`quotient_search::need`]; the guide shows it. What depends on the formulas
//! of a model, or on a value alone, is decided here.
//!
//! `threads` is an upper bound: a search that cannot share its work uses one thread, and the report says so.

use quotient_ir::{DeadlockMode, PropertyId, PropertyKind, Temporal};
use quotient_representatives::Strategy;
use quotient_runs::{global_obstacle, parts_obstacle};
use quotient_search::{FairnessMode, FairnessScope, SearchOptions, SearchOrder, StoreMode, ViolationLimit};
use quotient_search::{need::Ask, need::EngineKind, need::Need, need::Reason, need::Support, need::support};

use crate::control::Control;
use crate::engines::refuse_absent;
use crate::error::Error;
use crate::lowering::Lowering;
use crate::model::{Model, UnsupportedProperty};
use crate::names::{DEADLOCK, ERRORS, property_name};
use crate::options::{Engine, Options, PartialOrder, Reduction, Symmetry};
use crate::refusal::MOST_THREADS;
pub(crate) use crate::refusal::Refusal;
use crate::selection::{claims, named_properties};

/// The number of states up to which several threads search in the order of one, unless they keep it: a few dozen
/// milliseconds.
const ORDERED_STATES: u64 = 1 << 15;

/// A check that can be run: options that are consistent with each other and the model.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) model: Model,
    pub(crate) options: Options,
    pub(crate) search: SearchOptions,
    /// The properties that are checked.
    pub(crate) properties: Vec<PropertyId>,
    /// The temporal properties that are checked, each in its own search.
    pub(crate) temporal: Vec<PropertyId>,
    /// The properties that were settled without a search, once that was found out.
    pub(crate) settled: Vec<PropertyId>,
    /// Further claims of the model, which cannot be checked.
    pub(crate) unsupported: Vec<UnsupportedProperty>,
    /// The number of threads the search can use.
    pub(crate) threads: u32,
    /// Deviations from the options that are not a reason for refusal.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// Validates options against a model, and lowers the model for them. [`Plan::model`] is what is searched and what the
    /// report is about.
    ///
    /// # Errors
    /// If they cannot be used ([`Error::Refused`]), or a limit was reached before the model was lowered.
    pub fn new(model: &Model, options: &Options) -> Result<Self, Error> {
        let lowering = Lowering::for_check(options);
        if model.is_other_than(lowering) {
            return Self::of(&model.lowered(lowering, &Control::start(&options.limits))?, options);
        }
        Self::of(model, options)
    }

    /// Validates options against a model as it is.
    pub(crate) fn of(model: &Model, options: &Options) -> Result<Self, Error> {
        refuse_absent(options.engine, options.workers.is_some())?;
        let search = search_options(model, options)?;
        let claims = claims(model.ir(), search.properties.as_deref());
        let kind = |id: PropertyId| model.ir().properties[id].kind;
        let (temporal, properties): (Vec<PropertyId>, Vec<PropertyId>) =
            claims.into_iter().partition(|&id| kind(id) == PropertyKind::Temporal);
        let liveness = properties.iter().copied().find(|&id| kind(id) == PropertyKind::AlwaysReachable);
        let claims = Claims { model, liveness, temporal: &temporal };
        let need = need(model, options, &claims);
        claims.refuse(need.supported_by(engine_kind(options.engine)), options)?;
        refuse_fairness(&claims, options)?;
        refuse_partial_order(&claims, options, &search)?;
        // A verdict on the whole model must not omit a claim of the model.
        let unsupported = if options.properties.is_empty() { model.unsupported() } else { Vec::new() };
        let taking = std::iter::once(engine_kind(options.engine)).chain(need.engines());
        let alone = taking.filter_map(EngineKind::alone).next();
        let threads = if alone.is_some() { 1 } else { options.threads };
        let note = |alone| format!("{alone} uses one thread, not {}", options.threads);
        let notes: Vec<String> = alone.filter(|_| options.threads > 1).map(note).into_iter().collect();
        let (model, options) = (model.clone(), options.clone());
        Ok(Self { model, options, search, properties, temporal, settled: Vec::new(), unsupported, threads, notes })
    }

    /// The same without properties that need no search, and with a note on them.
    pub(crate) fn without(&self, settled: Vec<PropertyId>, note: String) -> Self {
        let mut plan = self.clone();
        let mut open = claims(self.model.ir(), self.search.properties.as_deref());
        open.retain(|property| !settled.contains(property));
        plan.search.properties = Some(open);
        plan.properties.retain(|property| !settled.contains(property));
        plan.settled.extend(settled);
        plan.notes.push(note);
        plan
    }

    /// The same search of states as sets, if it can be that.
    #[cfg_attr(not(feature = "sets"), expect(dead_code, reason = "only `symbolic` asks"))]
    pub(crate) fn by_sets(&self) -> Option<Self> {
        let options = Options { engine: Engine::Symbolic, ..self.options.clone() };
        let need = need(&self.model, &options, &Claims { model: &self.model, liveness: None, temporal: &[] });
        if support(EngineKind::Sets, &need) != Support::Yes {
            return None;
        }
        Some(Self { options, ..self.clone() })
    }

    /// Whether anything is claimed about single states, or can go wrong in them.
    pub(crate) fn searches_states(&self) -> bool {
        let is_asked = !self.properties.is_empty() || self.search.deadlock != DeadlockMode::Off || self.search.errors;
        is_asked || self.temporal.is_empty() && self.settled.is_empty()
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

/// The options of the engine, if they are valid by themselves.
fn search_options(model: &Model, options: &Options) -> Result<SearchOptions, Refusal> {
    if !(1..=MOST_THREADS).contains(&options.threads) {
        return Err(Refusal::Threads(options.threads));
    }
    let is_nothing = |limit: Option<u64>| limit == Some(0);
    let max_disk = options.spill.as_ref().and_then(|spill| spill.max_bytes);
    if is_nothing(options.limits.max_states)
        || is_nothing(options.limits.max_memory)
        || is_nothing(max_disk)
        || options.store == (StoreMode::Bitstate { bytes: 0 })
    {
        return Err(Refusal::NoRoom);
    }
    if options.violations == ViolationLimit::Kinds(0) {
        return Err(Refusal::NoErrors);
    }
    let mut search = SearchOptions {
        order: options.order,
        fairness: options.fairness,
        deadlock: options.deadlock.unwrap_or_else(|| model.usual_deadlock_mode()),
        max_states: options.limits.max_states,
        max_depth: options.limits.max_depth,
        spill: options.spill.clone(),
        checkpoint: options.checkpoint.as_ref().map(|checkpoint| checkpoint.path.clone()),
        resume: options.resume.clone(),
        origin: origin(model, options),
        store: options.store,
        threads: options.threads,
        ordered_states: if options.exact_order { u64::MAX } else { ORDERED_STATES },
        store_passing: options.store_passing,
        cross_check: options.cross_check,
        statistics: options.statistics,
        violations: match options.violations {
            ViolationLimit::Kinds(1) => ViolationLimit::First,
            other => other,
        },
        ..SearchOptions::default()
    };
    if !options.properties.is_empty() {
        let is_wanted = |subject: &str| options.properties.iter().any(|name| name == subject);
        refuse_unsupported(model, &options.properties)?;
        search.properties = Some(named_properties(model.ir(), &options.properties)?);
        if is_wanted(DEADLOCK) && search.deadlock == DeadlockMode::Off {
            return Err(Refusal::DeadlockOff);
        }
        if !is_wanted(DEADLOCK) {
            search.deadlock = DeadlockMode::Off;
        }
        search.errors = is_wanted(ERRORS);
    }
    Ok(search)
}

/// What a checkpoint says about the model. The slice follows from this, the properties and the mode of deadlocks.
fn origin(model: &Model, options: &Options) -> Vec<(String, String)> {
    let exact = options.exact_counts.then(|| ("--exact-counts".to_owned(), "on".to_owned()));
    model.origin().into_iter().chain(exact).collect()
}

/// The claims of a model that need more than its states.
struct Claims<'a> {
    model: &'a Model,
    liveness: Option<PropertyId>,
    temporal: &'a [PropertyId],
}

impl Claims<'_> {
    fn is_ctl(&self, id: PropertyId) -> bool {
        self.model.ir().properties[id].formula.temporal().is_some_and(Temporal::is_ctl)
    }

    fn named(&self, id: PropertyId) -> String {
        let ir = self.model.ir();
        let word = if ir.properties[id].kind == PropertyKind::Temporal { "temporal" } else { "liveness" };
        format!("{word} property `{}`", property_name(ir, id))
    }

    /// The claim that stands in the way.
    fn concerned(&self, reason: &Reason) -> Option<PropertyId> {
        let mut temporal = self.temporal.iter().copied();
        match (reason.ask, reason.engine) {
            (Ask::Linear, _) => temporal.find(|&id| !self.is_ctl(id)),
            (Ask::Branching, _) => temporal.find(|&id| self.is_ctl(id)),
            (_, EngineKind::Runs) => temporal.next(),
            _ => self.liveness.or(temporal.next()),
        }
    }

    /// Refuses what is not supported.
    fn refuse(&self, support: Support, options: &Options) -> Result<(), Error> {
        let Support::No(reason) = support else { return Ok(()) };
        let property = self.concerned(&reason).map(|id| self.named(id)).unwrap_or_default();
        let refusal = refusal(&reason, &property, options.reduction);
        // What the text has, and not an option, is shown there.
        if reason.ask == Ask::Constraint && matches!(reason.engine, EngineKind::Proofs | EngineKind::Counters) {
            let mut properties = self.model.ir().properties.iter();
            let constraint = properties.find(|property| property.kind == PropertyKind::Constraint);
            let span = constraint.map(|property| property.span).unwrap_or_default();
            return Err(Error::unsupported(self.model.source(), refusal.to_string(), span));
        }
        Err(refusal.into())
    }
}

/// The refusal of what is not supported.
pub(crate) fn refusal(reason: &Reason, property: &str, reduction: Reduction) -> Refusal {
    let text = reason.about(property, reduction.name());
    match reason.engine {
        EngineKind::Distributed => Refusal::Workers(text),
        EngineKind::Sets | EngineKind::Proofs | EngineKind::Counters => Refusal::Engine(text),
        _ => Refusal::Unsupported(text),
    }
}

fn engine_kind(engine: Engine) -> EngineKind {
    match engine {
        Engine::Auto | Engine::Explicit => EngineKind::Explicit,
        Engine::Symbolic => EngineKind::Sets,
        Engine::Counters => EngineKind::Counters,
        Engine::Solver(_) => EngineKind::Proofs,
    }
}

/// What is asked about symmetries and their use.
pub(crate) fn asks_of_reduction(symmetry: Symmetry, reduction: Reduction) -> [(Ask, bool); 9] {
    let is_by = |strategies: &[Strategy]| matches!(reduction, Reduction::By(own) if strategies.contains(&own));
    let is_marked = is_by(&[Strategy::Markers, Strategy::MarkersTrees]);
    let is_decided = is_by(&[Strategy::MarkersCanonical]);
    let is_canonical = is_by(&[Strategy::Canonical]);
    let is_by_another = matches!(reduction, Reduction::By(_)) && !is_marked && !is_decided && !is_canonical;
    [
        (Ask::NoSymmetry, symmetry == Symmetry::Off),
        (Ask::DeclaredSymmetry, symmetry == Symmetry::Declared),
        (Ask::Unreduced, reduction == Reduction::None),
        (Ask::Canonical, is_canonical),
        (Ask::Representatives, is_by_another),
        (Ask::Markers, is_marked),
        (Ask::MarkersCanonical, is_decided),
        (Ask::Adaptive, reduction == Reduction::Adaptive),
        (Ask::ReductionOfSets, matches!(reduction, Reduction::OfSets(_))),
    ]
}

/// What a check asks for.
fn need(model: &Model, options: &Options, claims: &Claims<'_>) -> Need {
    let temporal = claims.temporal;
    let is_fair = !temporal.is_empty() && options.fairness != FairnessMode::None;
    let is_global = options.fairness == FairnessMode::Global;
    let constraints = model.ir().properties.iter().filter(|property| property.kind == PropertyKind::Constraint);
    let collects = options.violations.collects() && options.violations != ViolationLimit::Kinds(1);
    let asked = Need::new([
        (Ask::Liveness, claims.liveness.is_some()),
        (Ask::Linear, temporal.iter().any(|&id| !claims.is_ctl(id))),
        (Ask::Branching, temporal.iter().any(|&id| claims.is_ctl(id))),
        (Ask::Fairness, is_fair && !is_global),
        (Ask::GlobalFairness, is_fair && is_global),
        (Ask::Objective, !model.ir().objectives.is_empty()),
        (Ask::Constraint, constraints.count() > 0),
        (Ask::AllErrors, collects),
    ]);
    need_of_options(options).asks().fold(asked, Need::with)
}

/// What the options of a check ask for, whatever it is about.
fn need_of_options(options: &Options) -> Need {
    let is_deadlock_asked = options.properties.iter().any(|name| name == DEADLOCK)
        || !matches!(options.deadlock, None | Some(DeadlockMode::Off));
    let asked = Need::new([
        (Ask::Deadlock, is_deadlock_asked),
        (Ask::NamedEngine, options.engine != Engine::Auto),
        (Ask::DepthFirst, options.order == SearchOrder::DepthFirst),
        (Ask::PartialOrder, options.partial_order == PartialOrder::On),
        (Ask::NoPartialOrder, options.partial_order == PartialOrder::Off),
        (Ask::ApproximateStore, options.store.is_approximate()),
        (Ask::DenseStore, options.store == StoreMode::Dense),
        (Ask::StorePassing, options.store_passing),
        (Ask::Workers, options.workers.is_some()),
        (Ask::Threads, options.threads > 1),
        (Ask::ExactOrder, options.exact_order),
        (Ask::Spill, options.spill.is_some()),
        (Ask::Checkpoint, options.checkpoint.is_some()),
        (Ask::Resume, options.resume.is_some()),
        (Ask::CrossCheck, options.cross_check),
        (Ask::Statistics, options.statistics),
        (Ask::CoverRuns, options.cover_runs),
        (Ask::ExactCounts, options.exact_counts),
        (Ask::MaxStates, options.limits.max_states.is_some()),
        (Ask::MaxDepth, options.limits.max_depth.is_some()),
    ]);
    let reduction = Need::new(asks_of_reduction(options.symmetry, options.reduction));
    reduction.asks().fold(asked, Need::with)
}

/// Whether what options ask for can be answered with a part of the steps, whatever the properties are.
pub(crate) fn permits_partial_order(options: &Options) -> bool {
    let asked = Need::new([(Ask::AllErrors, options.violations.collects())]);
    let need = need_of_options(options).asks().fold(asked, Need::with);
    support(EngineKind::PartialOrder, &need) == Support::Yes
}

/// Refuses what searches with counters do not support.
pub(crate) fn refuse_counters(options: &Options, search: &SearchOptions, is_temporal: bool) -> Result<(), Refusal> {
    let asked = Need::new([
        (Ask::Fairness, is_temporal && search.fairness != FairnessMode::None),
        (Ask::AllErrors, search.violations.collects()),
    ]);
    let need = need_of_options(options).asks().fold(asked, Need::with);
    refuse(support(EngineKind::Counters, &need), options.reduction)
}

/// Refuses what claims about every size do not support.
pub(crate) fn refuse_every(options: &Options) -> Result<(), Refusal> {
    let asked = Need::new([
        (Ask::Fairness, options.fairness != FairnessMode::None),
        (Ask::AllErrors, options.violations != ViolationLimit::First),
    ]);
    let need = need_of_options(options).asks().fold(asked, Need::with);
    refuse(support(EngineKind::Every, &need), options.reduction)
}

/// Refuses what is not supported, whatever the properties are.
pub(crate) fn refuse(support: Support, reduction: Reduction) -> Result<(), Refusal> {
    match support {
        Support::Yes => Ok(()),
        Support::No(reason) => Err(refusal(&reason, "", reduction)),
    }
}

/// Refuses fairness of what a model does not have, or of runs that a property is not about.
fn refuse_fairness(claims: &Claims<'_>, options: &Options) -> Result<(), Refusal> {
    let (ir, name) = (claims.model.ir(), options.fairness.name());
    if options.fairness.scope() == FairnessScope::Processes && !ir.has_processes() {
        let reason = format!("--fairness {name} needs processes, and the model has none; use `weak` or `strong`");
        return Err(Refusal::Temporal(reason));
    }
    if options.fairness != FairnessMode::Global {
        return Ok(());
    }
    for &id in claims.temporal {
        if let Some(reason) = ir.properties[id].formula.temporal().and_then(global_obstacle) {
            let property = claims.named(id);
            let reason =
                format!("--fairness {name} cannot be used with {property}: {reason}; name others with --property");
            return Err(Refusal::Temporal(reason));
        }
    }
    Ok(())
}

/// Refuses partial order for formulas that need all steps. What only the functions of the model tell is refused later.
fn refuse_partial_order(claims: &Claims<'_>, options: &Options, search: &SearchOptions) -> Result<(), Refusal> {
    if options.partial_order != PartialOrder::On {
        return Ok(());
    }
    let ir = claims.model.ir();
    for &id in claims.temporal {
        let claim = ir.properties[id].formula.temporal();
        if let Some(reason) = claim.and_then(|claim| parts_obstacle(ir, claim, search)) {
            let property = claims.named(id);
            return Err(Refusal::PartialOrder(format!(
                "{property} needs all steps: {reason}; name others with --property"
            )));
        }
    }
    Ok(())
}

/// Refuses to check unsupported properties that are selected by name.
fn refuse_unsupported(model: &Model, names: &[String]) -> Result<(), Refusal> {
    match model.unsupported().into_iter().find(|unsupported| names.contains(&unsupported.name)) {
        Some(UnsupportedProperty { name, reason, .. }) => Err(Refusal::UnsupportedProperty { name, reason }),
        None => Ok(()),
    }
}
