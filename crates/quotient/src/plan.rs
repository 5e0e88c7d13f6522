//! Options checked against a model: what does not work is refused here, with a reason, and nothing is ignored.
//!
//! What goes with what:
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
//! | strategies | no symmetries |
//! | declared symmetries | no reduction |
//!
//! `threads` is a permission: where a search cannot share its work, it uses one, and the report says so.

use std::path::PathBuf;

use quotient_engines::{SearchOptions, SearchOrder, StoreMode, ViolationLimit};
use quotient_ir::{DeadlockMode, PropertyId, PropertyKind};
use quotient_symmetry::Strategy;

use crate::control::{Control, Observer, Silent};
use crate::error::Error;
use crate::model::Model;
use crate::names::property_name;
use crate::options::{Options, Reduction, Symmetry};
use crate::report::{Report, UnsupportedProperty};
use crate::run;
use crate::selection::{DEADLOCK, ERRORS, claims, named_properties};

/// The most threads that a search may be given.
pub const MOST_THREADS: u32 = 1024;

/// Why something that was asked cannot be done. Options are called by their names on the command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The model has no such property.
    #[error("the model has no property `{name}`{hint}")]
    UnknownProperty {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// The model has such a property, and it cannot be checked.
    #[error("property `{name}`: {reason}")]
    UnsupportedProperty {
        /// What was asked for.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Deadlock is to be checked, and not to be checked.
    #[error("--property deadlock contradicts --deadlock off")]
    DeadlockOff,
    /// Too few or too many threads.
    #[error("a search needs a thread, and uses at most {MOST_THREADS}: {0} cannot be used")]
    Threads(u32),
    /// A limit that leaves room for no state.
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
    /// Counts of rules for a search that cannot know them.
    #[error("--statistics cannot be used with {0}: how often rules fire would not be exact")]
    Statistics(&'static str),
    /// A comparison with nothing to compare.
    #[error("--cross-check compares a reduced search with an unreduced one, and this one is not reduced")]
    CrossCheckUnreduced,
    /// A comparison of a search that is not exact.
    #[error("--cross-check compares exact searches, and markers may be approximate: use markers-canonical")]
    CrossCheckMarkers,
    /// A reduction by symmetries that nobody is to look for.
    #[error("--reduction {0} needs symmetries: add --symmetry auto")]
    ReductionWithoutSymmetry(&'static str),
    /// A search that is to continue past violations, and cannot.
    #[error("--all-errors and --max-errors cannot be used with {0}")]
    AllErrors(&'static str),
    /// A model with a constraint, and something that needs to see what is left out.
    #[error("--constraint cannot be used with {0}")]
    Constraint(String),
    /// A search for no violation at all.
    #[error("--max-errors 0 looks for nothing: a search ends at the first error with 1")]
    NoErrors,
    /// Declared symmetries that nobody is to use.
    #[error("--symmetry declared is not used with --reduction none")]
    SymmetryWithoutReduction,
    /// Adaptive reduction and something that it cannot do, or a model that it does not apply to.
    #[error("{0}")]
    Adaptive(String),
    /// Something that the exploration of a graph cannot do.
    #[error("{0}")]
    Explore(&'static str),
    /// A checkpoint that does not fit.
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
    /// A file whose name does not tell the language.
    #[error("cannot tell the language of `{0}` from its name; say it with --language murphi, b or promela")]
    LanguageUnknown(String),
    /// A text in one language that is said to be in another.
    #[error("the text is said to be in two languages")]
    Language,
    /// A question about symmetries that does not make sense for the model.
    #[error("{0}")]
    Question(String),
}

/// A check that can be run: options that fit each other and the model.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) model: Model,
    pub(crate) options: Options,
    pub(crate) search: SearchOptions,
    /// The claims that are checked.
    pub(crate) properties: Vec<PropertyId>,
    /// What the model claims besides, and cannot be checked.
    pub(crate) unsupported: Vec<UnsupportedProperty>,
    /// How many threads the search can use.
    pub(crate) threads: u32,
    /// What is done otherwise than the options say, and is no reason to refuse them.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// Checks options against a model.
    ///
    /// # Errors
    /// Why they cannot be used ([`Error::Refused`]).
    pub fn new(model: &Model, options: &Options) -> Result<Self, Error> {
        let search = search_options(model, options)?;
        let properties = claims(model.ir(), search.properties.as_deref());
        let is_liveness = |&&id: &&PropertyId| model.ir().properties[id].kind == PropertyKind::AlwaysReachable;
        let liveness = properties.iter().find(is_liveness).map(|&id| property_name(model.ir(), id));
        let has_liveness = liveness.is_some();
        refuse_all_errors(options, &search)?;
        refuse_constraint(model, options, liveness.as_deref())?;
        refuse_store(options, has_liveness)?;
        refuse_reduction(options, liveness.as_deref())?;
        // A verdict on the whole model must not leave out what the model asks for.
        let unsupported = if options.properties.is_empty() { model.unsupported() } else { Vec::new() };
        let alone = if options.order == SearchOrder::DepthFirst {
            Some("a depth-first search")
        } else if options.reduction == Reduction::Adaptive {
            Some("adaptive reduction")
        } else if options.store != StoreMode::Exact {
            Some("an approximate store")
        } else if has_liveness {
            Some("a search for liveness")
        } else {
            None
        };
        let threads = if alone.is_some() { 1 } else { options.threads };
        let note = |alone| format!("{alone} uses one thread, not {}", options.threads);
        let notes = alone.filter(|_| options.threads > 1).map(note).into_iter().collect();
        Ok(Self { model: model.clone(), options: options.clone(), search, properties, unsupported, threads, notes })
    }

    /// Runs the check.
    ///
    /// # Errors
    /// If a checkpoint does not fit, adaptive reduction was asked for and does not apply to the model, or there
    /// is a defect in this program.
    pub fn run(&self) -> Result<Report, Error> {
        self.run_with(&Control::start(&self.options.limits), &mut Silent)
    }

    /// Runs the check under a control that can cancel it, and tells an observer how it goes. The limits of the
    /// options apply besides those of the control.
    ///
    /// # Errors
    /// As for [`Plan::run`].
    pub fn run_with(&self, control: &Control, observer: &mut dyn Observer) -> Result<Report, Error> {
        run::check(self, control, observer)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

/// What an engine is to do, if there is nothing wrong with it by itself.
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
        deadlock: options.deadlock.unwrap_or_else(|| model.usual_deadlock_mode()),
        max_states: options.limits.max_states,
        max_depth: options.limits.max_depth,
        spill: options.spill.clone(),
        checkpoint: options.checkpoint.as_ref().map(|checkpoint| checkpoint.path.clone()),
        resume: options.resume.clone(),
        origin: model.origin(),
        store: options.store,
        threads: options.threads,
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

/// Refuses to continue past violations where that cannot be done.
fn refuse_all_errors(options: &Options, search: &SearchOptions) -> Result<(), Refusal> {
    match () {
        () if !search.violations.collects() => Ok(()),
        () if options.reduction == Reduction::Adaptive => Err(Refusal::AllErrors("adaptive reduction")),
        () if options.store != StoreMode::Exact => Err(Refusal::AllErrors("an approximate store")),
        () => Ok(()),
    }
}

/// Refuses a constraint where what it leaves out would decide.
fn refuse_constraint(model: &Model, options: &Options, liveness: Option<&str>) -> Result<(), Refusal> {
    if model.ir().properties.iter().all(|property| property.kind != PropertyKind::Constraint) {
        return Ok(());
    }
    match liveness {
        Some(name) => Err(Refusal::Constraint(format!(
            "liveness property `{name}`: what can be reached is not known; name others with --property"
        ))),
        None if options.reduction == Reduction::Adaptive => Err(Refusal::Constraint("adaptive reduction".to_owned())),
        None => Ok(()),
    }
}

/// Refuses what the stores cannot do.
fn refuse_store(options: &Options, has_liveness: bool) -> Result<(), Refusal> {
    let resume: Option<&PathBuf> = options.resume.as_ref();
    let is_depth_first = options.order == SearchOrder::DepthFirst;
    let is_approximate = options.store != StoreMode::Exact;
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
    let unusable: [(bool, bool, bool, &'static str); 9] = [
        // What, whether disk space cannot be used with it, whether an approximate store cannot.
        (is_depth_first, true, true, "a depth-first search"),
        (is_approximate, true, false, "an approximate store"),
        (options.reduction == Reduction::Adaptive, true, true, "adaptive reduction"),
        (options.checkpoint.is_some(), true, true, "checkpoints"),
        (resume.is_some(), false, true, "checkpoints"),
        (options.cross_check, true, true, "--cross-check"),
        // States with equal markers are compared, and must be at hand for that.
        (is_marked, true, false, "markers"),
        (is_decided, true, true, "markers-canonical"),
        (has_liveness, true, true, "liveness properties"),
    ];
    for (applies, refuses_spill, refuses_approximation, what) in unusable {
        if applies && refuses_spill && options.spill.is_some() {
            return Err(Refusal::Spill(what));
        }
        if applies && refuses_approximation && is_approximate {
            return Err(Refusal::ApproximateStore(what));
        }
    }
    Ok(())
}

/// Refuses what reductions cannot do.
fn refuse_reduction(options: &Options, liveness: Option<&str>) -> Result<(), Refusal> {
    refuse_symmetry(options.symmetry, options.reduction)?;
    if options.reduction == Reduction::Adaptive {
        let reason = if options.symmetry == Symmetry::Declared {
            Some("it does not use declarations".to_owned())
        } else if let Some(name) = liveness {
            Some(format!("it decides what can be reached, and liveness property `{name}` asks for more"))
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

/// Refuses reductions without symmetries, and symmetries without a use.
pub(crate) fn refuse_symmetry(symmetry: Symmetry, reduction: Reduction) -> Result<(), Refusal> {
    match (symmetry, reduction) {
        (Symmetry::Off, Reduction::By(strategy)) => Err(Refusal::ReductionWithoutSymmetry(strategy.name())),
        (Symmetry::Off, Reduction::Adaptive) => Err(Refusal::ReductionWithoutSymmetry("adaptive")),
        (Symmetry::Declared, Reduction::None) => Err(Refusal::SymmetryWithoutReduction),
        _ => Ok(()),
    }
}

/// Refuses to check what cannot be checked, if it is asked for by name.
fn refuse_unsupported(model: &Model, names: &[String]) -> Result<(), Refusal> {
    match model.unsupported().into_iter().find(|unsupported| names.contains(&unsupported.name)) {
        Some(UnsupportedProperty { name, reason, .. }) => Err(Refusal::UnsupportedProperty { name, reason }),
        None => Ok(()),
    }
}
