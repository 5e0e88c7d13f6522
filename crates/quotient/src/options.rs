//! The options of a check, as plain data. Invalid combinations are refused by [`Plan::new`](crate::Plan::new), not
//! here.

use std::path::PathBuf;
use std::time::Duration;

use quotient_ir::DeadlockMode;
use quotient_representatives::Strategy;
use quotient_search::{FairnessMode, Membership, SearchOrder, SolverMethod, Spill, StoreMode, ViolationLimit, Way};

/// The usual size of the table of [`StoreMode::Bitstate`], in bytes.
pub const USUAL_BITSTATE_BYTES: u64 = 256 << 20;

/// Which symmetries to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// All symmetries of the text.
    #[default]
    Auto,
    /// Those declared by scalarsets, as far as they can be certified.
    Declared,
    /// None.
    Off,
}

/// How to reduce the state space by symmetries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Canonical representatives; adaptive reduction is tried during a long search, and used if it is much smaller.
    #[default]
    Auto,
    /// None.
    None,
    /// By this strategy.
    By(Strategy),
    /// States annotated with the processes not distinguished on the path to them; for models that are only partly
    /// symmetric, and safety properties.
    Adaptive,
    /// Of sets of states, in this way; for symbolic searches.
    OfSets(Way),
}

impl Reduction {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::By(strategy) => strategy.name(),
            Self::Adaptive => "adaptive",
            Self::OfSets(way) => way.name(),
        }
    }
}

/// How states are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// One by one; as sets if single states do not fit into memory.
    #[default]
    Auto,
    /// One by one.
    Explicit,
    /// As sets, by decision diagrams.
    Symbolic,
    /// By how many interchangeable objects are in which local state.
    Counters,
    /// Not at all: a solver for propositional satisfiability proves and refutes, in this way.
    Solver(SolverMethod),
}

/// Whether to take a part of the steps of a state where that suffices, because steps do not depend on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PartialOrder {
    /// Where what is checked allows it, and it pays.
    #[default]
    Auto,
    /// Always; what does not allow it is refused.
    On,
    /// Never.
    Off,
}

/// When to stop. Limits of time and memory apply to the whole operation, not just the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of states to store.
    pub max_states: Option<u64>,
    /// The maximum number of steps from an initial state.
    pub max_depth: Option<u64>,
    /// The maximum number of bytes the process may use; by default seven eighths of the free memory. If the system does
    /// not report the memory use of a process, only stored states count.
    pub max_memory: Option<u64>,
    /// The maximum duration.
    pub timeout: Option<Duration>,
}

/// Where to save a search, to continue it later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The file.
    pub path: PathBuf,
    /// How often it is written, in addition to the end of a search that did not finish.
    pub every: Duration,
}

impl Checkpoint {
    /// A checkpoint that is written every minute.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), every: Duration::from_secs(60) }
    }
}

/// What to check, and how. The default checks every property with automatic symmetry reduction.
///
/// ```
/// use std::time::Duration;
/// use quotient::{Limits, Options, Symmetry};
///
/// let limits = Limits { timeout: Some(Duration::from_secs(60)), ..Limits::default() };
/// let options = Options::default().symmetry(Symmetry::Declared).property("mutual exclusion").limits(limits);
/// assert_eq!(options.properties, ["mutual exclusion"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How states are searched.
    pub engine: Engine,
    /// Which symmetries to use.
    pub symmetry: Symmetry,
    /// How to use them.
    pub reduction: Reduction,
    /// Whether to leave out steps that do not depend on others.
    pub partial_order: PartialOrder,
    /// The properties to check, by name; every model has `deadlock` and `errors`. All if empty.
    pub properties: Vec<String>,
    /// What counts as a deadlock; the default depends on the language.
    pub deadlock: Option<DeadlockMode>,
    /// The number of violations to find: one counterexample is shown for each property and each kind of error.
    pub violations: ViolationLimit,
    /// Which state to expand next.
    pub order: SearchOrder,
    /// The maximum number of threads of a search.
    pub threads: u32,
    /// Which infinite runs count for temporal properties.
    pub fairness: FairnessMode,
    /// How states are stored.
    pub store: StoreMode,
    /// Whether transient states, those inside atomic sequences, are stored and counted.
    pub store_passing: bool,
    /// Where to continue when memory is full.
    pub spill: Option<Spill>,
    /// Where to save the search, to continue it later.
    pub checkpoint: Option<Checkpoint>,
    /// The checkpoint to continue from.
    pub resume: Option<PathBuf>,
    /// Whether to run an unreduced search, too, and compare.
    pub cross_check: bool,
    /// Whether to count how often rules fire, by expanding every state again after a finished search.
    pub statistics: bool,
    /// Whether all slots are part of the state, also those that nothing can notice.
    pub exact_counts: bool,
    /// Whether several threads find states in the order of one, so that each run finds the same counterexample.
    pub exact_order: bool,
    /// Whether to show a run to each cover property that is reached, which takes a separate search for each.
    pub cover_runs: bool,
    /// The processes that search together, each on its own machine, if there are several.
    pub workers: Option<Membership>,
    /// When to stop.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: Engine::default(),
            symmetry: Symmetry::default(),
            reduction: Reduction::default(),
            partial_order: PartialOrder::default(),
            properties: Vec::new(),
            deadlock: None,
            violations: ViolationLimit::default(),
            order: SearchOrder::default(),
            threads: 1,
            fairness: FairnessMode::default(),
            store: StoreMode::default(),
            store_passing: false,
            spill: None,
            checkpoint: None,
            resume: None,
            cross_check: false,
            statistics: false,
            exact_counts: false,
            exact_order: false,
            cover_runs: false,
            workers: None,
            limits: Limits::default(),
        }
    }
}

impl Options {
    /// Searches in this way.
    #[must_use]
    pub fn engine(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }
    /// Uses these symmetries.
    #[must_use]
    pub fn symmetry(self, symmetry: Symmetry) -> Self {
        Self { symmetry, ..self }
    }
    /// Reduces in this way.
    #[must_use]
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self { reduction, ..self }
    }
    /// Leaves out steps that do not depend on others, or not.
    #[must_use]
    pub fn partial_order(self, partial_order: PartialOrder) -> Self {
        Self { partial_order, ..self }
    }
    /// Checks this property, in addition to others already named.
    #[must_use]
    pub fn property(mut self, name: impl Into<String>) -> Self {
        self.properties.push(name.into());
        self
    }
    /// Searches for this many violations.
    #[must_use]
    pub fn violations(self, violations: ViolationLimit) -> Self {
        Self { violations, ..self }
    }
    /// Lets only fair runs count for temporal properties.
    #[must_use]
    pub fn fairness(self, fairness: FairnessMode) -> Self {
        Self { fairness, ..self }
    }
    /// Uses this many threads.
    #[must_use]
    pub fn threads(self, threads: u32) -> Self {
        Self { threads, ..self }
    }
    /// Stops at these limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
    /// Counts the states of the model as it is, with slots that nothing can notice.
    #[must_use]
    pub fn exact_counts(self) -> Self {
        Self { exact_counts: true, ..self }
    }
    /// Compares with an unreduced search.
    #[must_use]
    pub fn cross_check(self) -> Self {
        Self { cross_check: true, ..self }
    }
}
