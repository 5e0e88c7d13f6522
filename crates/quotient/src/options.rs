//! Everything a check can be asked, as plain data. What does not go together is refused by
//! [`Plan::new`](crate::Plan::new), not here.

use std::path::PathBuf;
use std::time::Duration;

use quotient_engines::{SearchOrder, Spill, StoreMode, ViolationLimit};
use quotient_ir::DeadlockMode;
use quotient_symmetry::Strategy;

/// Which symmetries to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// All that the text has.
    #[default]
    Auto,
    /// Those that scalarsets declare, as far as they can be certified.
    Declared,
    /// None.
    Off,
}

/// How to reduce the state space by symmetries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The canonical one; adaptive reduction is tried beside a long search, and used if it is much smaller.
    #[default]
    Auto,
    /// None.
    None,
    /// By this strategy.
    By(Strategy),
    /// States annotated with what the way to them has not distinguished; for models that are only partly
    /// symmetric, and safety properties.
    Adaptive,
}

/// When to give up. Limits of time and memory bound everything that is done, not just the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of states to store.
    pub max_states: Option<u64>,
    /// The greatest number of steps from a start.
    pub max_depth: Option<u64>,
    /// The greatest number of bytes that the process may take; unless told otherwise, seven eighths of what
    /// is free. Where the system does not tell how much the process takes, only stored states count.
    pub max_memory: Option<u64>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// Where to write what was found, to continue from there later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The file.
    pub path: PathBuf,
    /// How often it is written, besides at the end of a search that did not finish.
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
    /// Which symmetries to use.
    pub symmetry: Symmetry,
    /// How to use them.
    pub reduction: Reduction,
    /// The properties to check, by name; `deadlock` and `errors` are two that every model has. All if empty.
    pub properties: Vec<String>,
    /// What counts as a deadlock; unless told otherwise that depends on the language.
    pub deadlock: Option<DeadlockMode>,
    /// How many violations to look for: one run is shown for each property and each kind of error.
    pub violations: ViolationLimit,
    /// Which state to expand next.
    pub order: SearchOrder,
    /// How many threads a search may use.
    pub threads: u32,
    /// How states are stored.
    pub store: StoreMode,
    /// Whether states inside of atomic sequences are stored and counted like others.
    pub store_passing: bool,
    /// Where to continue when memory is full.
    pub spill: Option<Spill>,
    /// Where to write what was found, to continue later.
    pub checkpoint: Option<Checkpoint>,
    /// The checkpoint to continue from.
    pub resume: Option<PathBuf>,
    /// Whether to search without reduction, too, and compare.
    pub cross_check: bool,
    /// Whether to count how often rules fire, by a second look at every state of a finished search.
    pub statistics: bool,
    /// Whether to show a run to each cover that is reached, for which there is a search of its own.
    pub cover_runs: bool,
    /// When to give up.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            symmetry: Symmetry::default(),
            reduction: Reduction::default(),
            properties: Vec::new(),
            deadlock: None,
            violations: ViolationLimit::default(),
            order: SearchOrder::default(),
            threads: 1,
            store: StoreMode::default(),
            store_passing: false,
            spill: None,
            checkpoint: None,
            resume: None,
            cross_check: false,
            statistics: false,
            cover_runs: false,
            limits: Limits::default(),
        }
    }
}

impl Options {
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
    /// Checks this property, besides others that were named.
    #[must_use]
    pub fn property(mut self, name: impl Into<String>) -> Self {
        self.properties.push(name.into());
        self
    }
    /// Looks for so many violations.
    #[must_use]
    pub fn violations(self, violations: ViolationLimit) -> Self {
        Self { violations, ..self }
    }
    /// Uses so many threads.
    #[must_use]
    pub fn threads(self, threads: u32) -> Self {
        Self { threads, ..self }
    }
    /// Gives up at these limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
    /// Compares with a search without reduction.
    #[must_use]
    pub fn cross_check(self) -> Self {
        Self { cross_check: true, ..self }
    }
}
