//! Options validated against a model: whatever does not work is refused here, with a reason, and nothing is ignored.
//!
//! Valid combinations:
//!
//! | option | refused with |
//! | --- | --- |
//! | checkpoints | depth-first order, adaptive reduction, approximate stores, spilling |
//! | resuming | depth-first order, adaptive reduction, approximate stores |
//! | spilling | depth-first order, adaptive reduction, approximate stores, checkpoints, markers, a cross-check, liveness |
//! | approximate stores | depth-first order, adaptive reduction, checkpoints, resuming, spilling, `markers-canonical`, a cross-check, liveness |
//! | a cross-check | no reduction, `markers` and `markers-trees`, approximate stores, spilling |
//! | adaptive reduction | depth-first order, liveness, declared symmetries or none, and what is listed above |
//! | all errors | adaptive reduction, approximate stores |
//! | a constraint | adaptive reduction, liveness |
//! | temporal properties | adaptive reduction, approximate stores, spilling, checkpoints, a constraint, other strategies than `canonical` |
//! | fairness of processes | models without processes |
//! | global fairness | formulas about trees, automata that are not deterministic |
//! | strategies | no symmetries |
//! | declared symmetries | no reduction |
//! | symbolic search | depth-first order, other reductions than of sets, approximate stores, spilling, checkpoints, resuming, a cross-check, statistics, all errors, a limit on states, temporal properties that are not of CTL, global fairness, objectives, partial order (`on`) |
//! | a solver | the same, and reductions of sets |
//! | counters | depth-first order, `--symmetry`, `--reduction`, approximate and dense stores, spilling, checkpoints, resuming, a cross-check, all errors, runs to covers, objectives, fairness of temporal properties, partial order (`on`) |
//! | workers | depth-first order, engines other than the explicit one, adaptive reduction and markers, approximate and dense stores, spilling, a cross-check, statistics, runs to covers, objectives, liveness, temporal properties, partial order (`on`), several threads |
//! | reductions of sets | other than symbolic searches |
//! | every size | all except properties, threads, and limits of time and memory; deadlocks |
//! | partial order (`on`) | adaptive reduction, markers, a cross-check, statistics, all errors, exact counts, a constraint, liveness, temporal properties, assumptions |
//!
//! `threads` is an upper bound: a search that cannot share its work uses one thread, and the report says so.

use std::path::PathBuf;

use quotient_engines::{
    FairnessMode, FairnessScope, SearchOptions, SearchOrder, StoreMode, ViolationLimit, global_obstacle, parts_obstacle,
};
use quotient_ir::{DeadlockMode, PropertyId, PropertyKind, Temporal};
use quotient_representatives::Strategy;

use crate::control::{Control, Observer, Silent};
use crate::error::Error;
use crate::model::Model;
use crate::names::property_name;
use crate::names::{DEADLOCK, ERRORS};
use crate::options::{Engine, Options, PartialOrder, Reduction, Symmetry};
use crate::partial_order;
use crate::report::{Report, UnsupportedProperty};
use crate::run;
use crate::selection::{claims, named_properties};

/// The maximum number of threads of a search.
pub const MOST_THREADS: u32 = 1024;
/// The number of states up to which several threads search in the order of one, unless they keep it: a few dozen
/// milliseconds.
const ORDERED_STATES: u64 = 1 << 15;

/// Why a request is refused. Options are called by their names on the command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The model has no such property.
    #[error("the model has no property `{name}`{hint}")]
    UnknownProperty {
        /// The name requested.
        name: String,
        /// Suggested names.
        hint: String,
    },
    /// The model has such a property, but it cannot be checked.
    #[error("property `{name}`: {reason}")]
    UnsupportedProperty {
        /// The name requested.
        name: String,
        /// The reason.
        reason: String,
    },
    /// Deadlock is both selected and switched off.
    #[error("--property deadlock contradicts --deadlock off")]
    DeadlockOff,
    /// Too few or too many threads.
    #[error("a search needs a thread, and uses at most {MOST_THREADS}: {0} cannot be used")]
    Threads(u32),
    /// A limit that leaves no room for any state.
    #[error("a search needs room for a state")]
    NoRoom,
    /// Checkpoints of a depth-first search.
    #[error("--checkpoint and --resume need a breadth-first search")]
    CheckpointDepthFirst,
    /// Disk space for a search that cannot use it.
    #[error("--spill cannot be used with {0}")]
    Spill(&'static str),
    /// An approximate store for a search that cannot use it.
    #[error("an approximate store cannot be used with {0}")]
    ApproximateStore(&'static str),
    /// A dense store for a search that cannot use it.
    #[error("a dense store cannot be used with {0}")]
    DenseStore(&'static str),
    /// Rule counts for a search that cannot provide them.
    #[error("--statistics cannot be used with {0}: how often rules fire would not be exact")]
    Statistics(&'static str),
    /// A comparison of an unreduced search with itself.
    #[error("--cross-check compares a reduced search with an unreduced one, and this one is not reduced")]
    CrossCheckUnreduced,
    /// A comparison of a search that is not exact.
    #[error("--cross-check compares exact searches, and markers may be approximate: use markers-canonical")]
    CrossCheckMarkers,
    /// A reduction by symmetries, with symmetries switched off.
    #[error("--reduction {0} needs symmetries: add --symmetry auto")]
    ReductionWithoutSymmetry(&'static str),
    /// A search that cannot continue past violations, but should.
    #[error("--all-errors and --max-errors cannot be used with {0}")]
    AllErrors(&'static str),
    /// A model with a constraint, and an option that needs the states it excludes.
    #[error("--constraint cannot be used with {0}")]
    Constraint(String),
    /// A search for zero violations.
    #[error("--max-errors 0 looks for nothing: a search ends at the first error with 1")]
    NoErrors,
    /// Declared symmetries, with reduction switched off.
    #[error("--symmetry declared is not used with --reduction none")]
    SymmetryWithoutReduction,
    /// Adaptive reduction with an incompatible option, or for a model that it does not apply to.
    #[error("{0}")]
    Adaptive(String),
    /// An option that searches for temporal properties do not support.
    #[error("{0}")]
    Temporal(String),
    /// An option that the exploration of a graph does not support.
    #[error("{0}")]
    Explore(&'static str),
    /// Partial order where all steps are needed.
    #[error("--partial-order on cannot be used: {0}")]
    PartialOrder(String),
    /// An engine with an incompatible option, or for a model that it does not apply to.
    #[error("{0}")]
    Engine(String),
    /// Processes that cannot search together.
    #[error("{0}")]
    Workers(String),
    /// A claim about every size with an incompatible option, or of a constant that does not exist.
    #[error("--every: {0}")]
    Every(String),
    /// A checkpoint that does not match.
    #[error("{0}")]
    Resume(String),
    /// An option of B machines for a model in another language.
    #[error("--no-extra-nodes is for B machines")]
    NoExtraNodes,
    /// An option of B machines for a model in another language.
    #[error("--well-definedness is for B machines")]
    WellDefinedness,
    /// An option of Promela models for a model in another language.
    #[error("--max-processes is for Promela models")]
    MaxProcesses,
    /// An option of Petri nets for a model in another language.
    #[error("--properties is for Petri nets")]
    PropertyFiles,
    /// A file whose name does not determine the language.
    #[error(
        "cannot tell the language of `{0}` from its name; say it with --language murphi, b, promela, dve, csp or pnml"
    )]
    LanguageUnknown(String),
    /// A text in one language that is declared to be in another.
    #[error("the text is said to be in two languages")]
    Language,
    /// An expression for a model that was built.
    #[error("expressions are read in the language of a text, and this model has none")]
    NoText,
    /// An expression that adds something to the state.
    #[error("this expression needs something that is not part of the state of the model")]
    OtherStates,
    /// An expression that has several values, or none.
    #[error("this expression is neither a condition nor has a single value")]
    NoValue,
    /// A question about symmetries that does not make sense for the model.
    #[error("{0}")]
    Question(String),
}

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
    /// The properties that were settled without a search.
    pub(crate) settled: Vec<PropertyId>,
    /// Further claims of the model, which cannot be checked.
    pub(crate) unsupported: Vec<UnsupportedProperty>,
    /// The number of threads the search can use.
    pub(crate) threads: u32,
    /// Deviations from the options that are not a reason for refusal.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// Validates options against a model.
    ///
    /// # Errors
    /// If they cannot be used ([`Error::Refused`]).
    pub fn new(model: &Model, options: &Options) -> Result<Self, Error> {
        let mut search = search_options(model, options)?;
        let claims = claims(model.ir(), search.properties.as_deref());
        let is_settled = |id: &PropertyId| model.ir().settled.iter().any(|settled| settled.property == *id);
        let (settled, claims): (Vec<PropertyId>, Vec<PropertyId>) = claims.into_iter().partition(is_settled);
        if !settled.is_empty() {
            search.properties = Some(claims.clone());
        }
        let kind = |id: PropertyId| model.ir().properties[id].kind;
        let (temporal, properties): (Vec<PropertyId>, Vec<PropertyId>) =
            claims.into_iter().partition(|&id| kind(id) == PropertyKind::Temporal);
        let named = |id: PropertyId| {
            let word = if kind(id) == PropertyKind::Temporal { "temporal" } else { "liveness" };
            format!("{word} property `{}`", property_name(model.ir(), id))
        };
        let liveness = properties.iter().copied().find(|&id| kind(id) == PropertyKind::AlwaysReachable);
        let has_liveness = liveness.is_some();
        let liveness = liveness.or(temporal.first().copied()).map(named);
        refuse_check_by_workers(model, options, liveness.as_deref())?;
        refuse_engine(model, options, &search, &temporal, &named)?;
        refuse_all_errors(options, &search)?;
        refuse_constraint(model, options, liveness.as_deref())?;
        let word = if has_liveness { "liveness properties" } else { "temporal properties" };
        refuse_store(options, liveness.as_ref().map(|_| word))?;
        refuse_temporal(options, temporal.first().map(|&id| named(id)))?;
        refuse_fairness(model, options, &temporal, &named)?;
        refuse_reduction(options, liveness.as_deref())?;
        let liveness = liveness.filter(|_| has_liveness);
        refuse_partial_order(model, (options, &search), liveness.as_deref(), &temporal, &named)?;
        // A verdict on the whole model must not omit a claim of the model.
        let unsupported = if options.properties.is_empty() { model.unsupported() } else { Vec::new() };
        let alone = if options.engine == Engine::Symbolic {
            Some("a symbolic search")
        } else if options.engine == Engine::Counters {
            Some("a search with counters")
        } else if let Engine::Solver(_) = options.engine {
            Some("a solver")
        } else if options.order == SearchOrder::DepthFirst {
            Some("a depth-first search")
        } else if options.reduction == Reduction::Adaptive {
            Some("adaptive reduction")
        } else if options.store.is_approximate() {
            Some("an approximate store")
        } else if has_liveness {
            Some("a search for liveness")
        } else {
            None
        };
        let threads = if alone.is_some() { 1 } else { options.threads };
        let note = |alone| format!("{alone} uses one thread, not {}", options.threads);
        let mut notes: Vec<String> = alone.filter(|_| options.threads > 1).map(note).into_iter().collect();
        notes.extend(settled_by(model, &settled));
        let (model, options) = (model.clone(), options.clone());
        Ok(Self { model, options, search, properties, temporal, settled, unsupported, threads, notes })
    }

    /// Runs the check.
    ///
    /// # Errors
    /// If a checkpoint does not match, adaptive reduction was requested but does not apply to the model, or there is a
    /// defect in this program.
    pub fn run(&self) -> Result<Report, Error> {
        self.run_with(&Control::start(&self.options.limits), &mut Silent)
    }

    /// Runs the check under a control that can cancel it, and reports progress to an observer. The limits of the
    /// options apply in addition to those of the control.
    ///
    /// # Errors
    /// As for [`Plan::run`].
    pub fn run_with(&self, control: &Control, observer: &mut dyn Observer) -> Result<Report, Error> {
        run::check(self, control, observer)
    }

    /// The same search of states as sets, if it can be that.
    pub(crate) fn by_sets(&self) -> Option<Self> {
        let options = Options { engine: Engine::Symbolic, ..self.options.clone() };
        refuse_engine(&self.model, &options, &self.search, &[], &|_| String::new()).ok()?;
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

/// What settled properties without a search.
fn settled_by(model: &Model, settled: &[PropertyId]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for (position, one) in model.ir().settled.iter().enumerate() {
        let alike = &model.ir().settled[..position];
        if alike.iter().any(|other| other.by == one.by) {
            continue;
        }
        let own = model.ir().settled.iter().filter(|other| other.by == one.by && settled.contains(&other.property));
        let names: Vec<String> = own.map(|other| format!("`{}`", property_name(model.ir(), other.property))).collect();
        if !names.is_empty() {
            notes.push(format!("{} needed no search: decided by {}", names.join(", "), one.by));
        }
    }
    notes
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

/// Refuses what an engine does not support.
fn refuse_engine(
    model: &Model,
    options: &Options,
    search: &SearchOptions,
    temporal: &[PropertyId],
    named: &dyn Fn(PropertyId) -> String,
) -> Result<(), Refusal> {
    let engine = match (options.engine, options.reduction) {
        (Engine::Symbolic, _) => "symbolic",
        (Engine::Counters, Reduction::OfSets(_)) => return refused_with_counters("a reduction of sets"),
        (Engine::Counters, _) => return refuse_counters(options, search, !temporal.is_empty()),
        (_, Reduction::OfSets(way)) => {
            return Err(Refusal::Engine(format!("--reduction {} needs --engine symbolic", way.name())));
        }
        (Engine::Solver(_), _) => "sat",
        (Engine::Auto | Engine::Explicit, _) => return Ok(()),
    };
    let no_reduction = match options.engine {
        Engine::Solver(_) => "a reduction of single states: --symmetry off leaves symmetries out",
        _ => "a reduction of single states: use orbit-relation, multiple-representatives, on-the-fly or dynamic",
    };
    let no_limit = match options.engine {
        Engine::Solver(_) => "--max-states: it does not count states; use --max-memory",
        _ => "--max-states: it counts states at its end; use --max-memory",
    };
    let is_by_sets = options.engine == Engine::Symbolic;
    let is_ctl = |id: PropertyId| model.ir().properties[id].formula.temporal().is_some_and(Temporal::is_ctl);
    let undecided = temporal.iter().copied().find(|&id| !is_by_sets || !is_ctl(id));
    let what = if let Some(id) = undecided {
        let why = if is_by_sets { ", which is not a formula of CTL" } else { "" };
        format!("{}{why}; name others with --property", named(id))
    } else if is_by_sets && !temporal.is_empty() && search.fairness == FairnessMode::Global {
        "global fairness".to_owned()
    } else {
        let unusable: [(bool, &str); 12] = [
            (options.order == SearchOrder::DepthFirst, "--search dfs"),
            (matches!(options.reduction, Reduction::By(_) | Reduction::Adaptive), no_reduction),
            (options.store.is_approximate(), "an approximate store"),
            (options.store == StoreMode::Dense, "a dense store"),
            (options.spill.is_some(), "--spill"),
            (options.checkpoint.is_some() || options.resume.is_some(), "--checkpoint and --resume"),
            (options.cross_check, "--cross-check"),
            (options.statistics, "--statistics"),
            (search.violations.collects(), "--all-errors and --max-errors"),
            (options.limits.max_states.is_some(), no_limit),
            (!model.ir().objectives.is_empty(), "a model that asks for a best state"),
            (options.partial_order == PartialOrder::On, "--partial-order on"),
        ];
        match unusable.into_iter().find(|(applies, _)| *applies) {
            Some((_, what)) => what.to_owned(),
            None => return Ok(()),
        }
    };
    Err(Refusal::Engine(format!("--engine {engine} cannot be used with {what}")))
}

/// Refuses what searches with counters do not support.
pub(crate) fn refuse_counters(options: &Options, search: &SearchOptions, is_temporal: bool) -> Result<(), Refusal> {
    let is_fair = is_temporal && search.fairness != FairnessMode::None;
    let unusable: [(bool, &str); 12] = [
        (is_fair, "--fairness: a step does not say which of the objects that are counted takes it"),
        (options.order == SearchOrder::DepthFirst, "--search dfs"),
        (options.symmetry != Symmetry::Auto, "--symmetry: it uses what the text shows to be interchangeable"),
        (options.reduction != Reduction::Auto, "--reduction: counting is one"),
        (options.store.is_approximate(), "an approximate store"),
        (options.store == StoreMode::Dense, "a dense store"),
        (options.spill.is_some(), "--spill"),
        (options.checkpoint.is_some() || options.resume.is_some(), "--checkpoint and --resume"),
        (options.cross_check, "--cross-check"),
        (search.violations.collects(), "--all-errors and --max-errors"),
        (options.cover_runs, "--cover-runs, which takes further searches"),
        (options.partial_order == PartialOrder::On, "--partial-order on"),
    ];
    match unusable.into_iter().find(|(applies, _)| *applies) {
        Some((_, what)) => refused_with_counters(what),
        None => Ok(()),
    }
}

fn refused_with_counters(what: &str) -> Result<(), Refusal> {
    Err(Refusal::Engine(format!("--engine counters cannot be used with {what}")))
}

/// The parts of a search that workers support less of, whatever is asked of it.
pub(crate) struct SearchParts {
    pub(crate) order: SearchOrder,
    pub(crate) reduction: Reduction,
    pub(crate) partial_order: PartialOrder,
    pub(crate) threads: u32,
}

/// Refuses what searches on several machines do not support, the first of `others` that applies included.
pub(crate) fn refuse_workers(search: &SearchParts, others: &[(bool, &str)]) -> Result<(), Refusal> {
    let is_reduced = match search.reduction {
        Reduction::Auto | Reduction::None => true,
        Reduction::By(strategy) => {
            !matches!(strategy, Strategy::Markers | Strategy::MarkersTrees | Strategy::MarkersCanonical)
        }
        Reduction::Adaptive | Reduction::OfSets(_) => false,
    };
    let unusable = [
        (search.order == SearchOrder::DepthFirst, "--search dfs"),
        (!is_reduced, "this reduction: the representative of a state must not depend on what was found before"),
        (search.partial_order == PartialOrder::On, "--partial-order on: which steps suffice depends on what was found"),
        (search.threads > 1, "--threads: a process has as many threads as workers"),
    ];
    match others.iter().chain(&unusable).find(|(applies, _)| *applies) {
        Some((_, what)) => Err(Refusal::Workers(format!("--workers cannot be used with {what}"))),
        None => Ok(()),
    }
}

/// Refuses what checks on several machines do not support.
fn refuse_check_by_workers(model: &Model, options: &Options, liveness: Option<&str>) -> Result<(), Refusal> {
    if options.workers.is_none() {
        return Ok(());
    }
    let &Options { order, reduction, partial_order, threads, .. } = options;
    let graph =
        liveness.map(|name| format!("{name}, which needs the graph of all states; name others with --property"));
    let others = [
        (
            matches!(options.engine, Engine::Symbolic | Engine::Solver(_) | Engine::Counters),
            "an engine that does not store single states",
        ),
        (options.store != StoreMode::Exact, "a store other than the exact one"),
        (options.spill.is_some(), "--spill"),
        (options.cross_check, "--cross-check"),
        (options.statistics, "--statistics"),
        (options.cover_runs, "--cover-runs, which takes further searches"),
        (!model.ir().objectives.is_empty(), "a model that asks for a best state, which takes further searches"),
        (options.exact_order, "--exact-order: workers find states in any order"),
        (graph.is_some(), graph.as_deref().unwrap_or_default()),
    ];
    refuse_workers(&SearchParts { order, reduction, partial_order, threads }, &others)
}

/// Refuses what claims about every size do not support.
pub(crate) fn refuse_every(options: &Options) -> Result<(), Refusal> {
    let usual = Options::default();
    let unusable: [(bool, &str); 20] = [
        (options.properties.iter().any(|name| name == DEADLOCK), "deadlocks: they are not claimed for every size"),
        (!matches!(options.deadlock, None | Some(DeadlockMode::Off)), "deadlocks: they are not claimed for every size"),
        (options.engine != usual.engine, "--engine: it searches views, and small models in the usual way"),
        (options.symmetry != usual.symmetry, "--symmetry: all objects must be interchangeable"),
        (options.reduction != usual.reduction, "--reduction: all objects must be interchangeable"),
        (options.partial_order != usual.partial_order, "--partial-order"),
        (options.violations != usual.violations, "--all-errors and --max-errors: it ends at the first violation"),
        (options.order != usual.order, "--search"),
        (options.fairness != usual.fairness, "--fairness: liveness is not claimed for every size"),
        (options.store != usual.store, "--store"),
        (options.store_passing, "--store-passing"),
        (options.spill.is_some(), "--spill"),
        (options.checkpoint.is_some() || options.resume.is_some(), "--checkpoint and --resume"),
        (options.cross_check, "--cross-check"),
        (options.statistics, "--statistics"),
        (options.exact_counts, "--exact-counts"),
        (options.exact_order, "--exact-order"),
        (options.cover_runs, "--cover-runs"),
        (options.workers.is_some(), "--workers"),
        (
            options.limits.max_states.is_some() || options.limits.max_depth.is_some(),
            "--max-states and --max-depth: use --timeout and --max-memory",
        ),
    ];
    match unusable.into_iter().find(|(applies, _)| *applies) {
        Some((_, what)) => Err(Refusal::Every(format!("it cannot be used with {what}"))),
        None => Ok(()),
    }
}

/// Refuses to continue past violations where that is not supported.
fn refuse_all_errors(options: &Options, search: &SearchOptions) -> Result<(), Refusal> {
    match () {
        () if !search.violations.collects() => Ok(()),
        () if options.reduction == Reduction::Adaptive => Err(Refusal::AllErrors("adaptive reduction")),
        () if options.store.is_approximate() => Err(Refusal::AllErrors("an approximate store")),
        () => Ok(()),
    }
}

/// Refuses a constraint where the excluded states would matter.
fn refuse_constraint(model: &Model, options: &Options, liveness: Option<&str>) -> Result<(), Refusal> {
    if model.ir().properties.iter().all(|property| property.kind != PropertyKind::Constraint) {
        return Ok(());
    }
    match liveness {
        Some(name) => {
            Err(Refusal::Constraint(format!("{name}: what can be reached is not known; name others with --property")))
        }
        None if options.reduction == Reduction::Adaptive => Err(Refusal::Constraint("adaptive reduction".to_owned())),
        None => Ok(()),
    }
}

/// Refuses what the stores do not support.
fn refuse_store(options: &Options, liveness: Option<&'static str>) -> Result<(), Refusal> {
    let resume: Option<&PathBuf> = options.resume.as_ref();
    let is_depth_first = options.order == SearchOrder::DepthFirst;
    let (is_approximate, is_dense) = (options.store.is_approximate(), options.store == StoreMode::Dense);
    let is_marked = matches!(options.reduction, Reduction::By(Strategy::Markers | Strategy::MarkersTrees));
    let is_decided = options.reduction == Reduction::By(Strategy::MarkersCanonical);
    if is_depth_first && (options.checkpoint.is_some() || resume.is_some()) {
        return Err(Refusal::CheckpointDepthFirst);
    }
    if options.statistics {
        let what = match options.reduction {
            Reduction::Adaptive => Some("adaptive reduction"),
            Reduction::By(Strategy::Markers | Strategy::MarkersTrees) => Some("markers, which may be approximate"),
            _ if is_approximate => Some("an approximate store"),
            _ => None,
        };
        if let Some(what) = what {
            return Err(Refusal::Statistics(what));
        }
    }
    let unusable: [(bool, [bool; 3], &'static str); 11] = [
        // The option, and whether disk space, an approximate store and a dense one cannot be combined with it.
        (is_depth_first, [true, true, true], "a depth-first search"),
        (is_approximate, [true, false, false], "an approximate store"),
        (is_dense, [true, false, false], "a dense store"),
        (options.reduction == Reduction::Adaptive, [true, true, true], "adaptive reduction"),
        (options.checkpoint.is_some(), [true, true, true], "checkpoints"),
        (resume.is_some(), [false, true, true], "checkpoints"),
        (options.cross_check, [true, true, true], "--cross-check"),
        // States with equal markers are compared, and must be in memory for that.
        (is_marked, [true, false, true], "markers"),
        (is_decided, [true, true, true], "markers-canonical"),
        (liveness.is_some(), [true, true, true], liveness.unwrap_or_default()),
        // Whether a successor is expanded later is seen from its number.
        (options.partial_order == PartialOrder::On, [false, false, true], "--partial-order on"),
    ];
    for (applies, [refuses_spill, refuses_approximation, refuses_density], what) in unusable {
        if applies && refuses_spill && options.spill.is_some() {
            return Err(Refusal::Spill(what));
        }
        if applies && refuses_approximation && is_approximate {
            return Err(Refusal::ApproximateStore(what));
        }
        if applies && refuses_density && is_dense {
            return Err(Refusal::DenseStore(what));
        }
    }
    Ok(())
}

/// Refuses what searches for temporal properties do not support.
fn refuse_temporal(options: &Options, name: Option<String>) -> Result<(), Refusal> {
    let Some(name) = name else {
        return Ok(());
    };
    let what = if options.checkpoint.is_some() || options.resume.is_some() {
        "--checkpoint and --resume"
    } else if matches!(options.reduction, Reduction::By(strategy) if strategy != Strategy::Canonical) {
        "a reduction other than canonical"
    } else {
        return Ok(());
    };
    Err(Refusal::Temporal(format!("{what} cannot be used with {name}; name others with --property")))
}

/// Refuses fairness of what a model does not have, or of runs that a property is not about.
fn refuse_fairness(
    model: &Model,
    options: &Options,
    temporal: &[PropertyId],
    named: &dyn Fn(PropertyId) -> String,
) -> Result<(), Refusal> {
    let name = options.fairness.name();
    if options.fairness.scope() == FairnessScope::Processes && !model.ir().has_processes() {
        let reason = format!("--fairness {name} needs processes, and the model has none; use `weak` or `strong`");
        return Err(Refusal::Temporal(reason));
    }
    if options.fairness != FairnessMode::Global {
        return Ok(());
    }
    for &id in temporal {
        if let Some(reason) = model.ir().properties[id].formula.temporal().and_then(global_obstacle) {
            let property = named(id);
            let reason =
                format!("--fairness {name} cannot be used with {property}: {reason}; name others with --property");
            return Err(Refusal::Temporal(reason));
        }
    }
    Ok(())
}

/// Refuses what reductions do not support.
fn refuse_reduction(options: &Options, liveness: Option<&str>) -> Result<(), Refusal> {
    refuse_symmetry(options.symmetry, options.reduction)?;
    if options.reduction == Reduction::Adaptive {
        let reason = if options.symmetry == Symmetry::Declared {
            Some("it does not use declarations".to_owned())
        } else if let Some(name) = liveness {
            Some(format!("it decides what can be reached, and {name} asks for more"))
        } else if options.checkpoint.is_some() || options.resume.is_some() {
            Some("it cannot be interrupted and continued later".to_owned())
        } else if options.order != SearchOrder::BreadthFirst {
            Some("it searches breadth-first only".to_owned())
        } else {
            None
        };
        if let Some(reason) = reason {
            return Err(Refusal::Adaptive(format!("adaptive reduction does not apply: {reason}")));
        }
    }
    if options.cross_check {
        if let Reduction::By(Strategy::Markers | Strategy::MarkersTrees) = options.reduction {
            return Err(Refusal::CrossCheckMarkers);
        }
        if options.symmetry == Symmetry::Off || options.reduction == Reduction::None {
            return Err(Refusal::CrossCheckUnreduced);
        }
    }
    Ok(())
}

/// Refuses partial order where all steps are needed. What only the functions of the model tell is refused later.
fn refuse_partial_order(
    model: &Model,
    (options, search): (&Options, &SearchOptions),
    liveness: Option<&str>,
    temporal: &[PropertyId],
    named: &dyn Fn(PropertyId) -> String,
) -> Result<(), Refusal> {
    if options.partial_order != PartialOrder::On {
        return Ok(());
    }
    if let Some(name) = liveness {
        return Err(Refusal::PartialOrder(format!("{name} needs all steps; name others with --property")));
    }
    for &id in temporal {
        let claim = model.ir().properties[id].formula.temporal();
        if let Some(reason) = claim.and_then(|claim| parts_obstacle(model.ir(), claim, search)) {
            let property = named(id);
            return Err(Refusal::PartialOrder(format!(
                "{property} needs all steps: {reason}; name others with --property"
            )));
        }
    }
    match partial_order::obstacle(options) {
        Some(reason) => Err(Refusal::PartialOrder(reason.to_owned())),
        None => Ok(()),
    }
}

/// Refuses reductions without symmetries, and symmetries without a reduction.
pub(crate) fn refuse_symmetry(symmetry: Symmetry, reduction: Reduction) -> Result<(), Refusal> {
    match (symmetry, reduction) {
        (Symmetry::Off, Reduction::By(strategy)) => Err(Refusal::ReductionWithoutSymmetry(strategy.name())),
        (Symmetry::Off, Reduction::Adaptive) => Err(Refusal::ReductionWithoutSymmetry("adaptive")),
        (Symmetry::Off, Reduction::OfSets(way)) => Err(Refusal::ReductionWithoutSymmetry(way.name())),
        (Symmetry::Declared, Reduction::None) => Err(Refusal::SymmetryWithoutReduction),
        _ => Ok(()),
    }
}

/// Refuses to check unsupported properties that are selected by name.
fn refuse_unsupported(model: &Model, names: &[String]) -> Result<(), Refusal> {
    match model.unsupported().into_iter().find(|unsupported| names.contains(&unsupported.name)) {
        Some(UnsupportedProperty { name, reason, .. }) => Err(Refusal::UnsupportedProperty { name, reason }),
        None => Ok(()),
    }
}
