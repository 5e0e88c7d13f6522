//! The options of a search: what, how and how far.

use std::path::PathBuf;
use std::sync::Arc;

use quotient_ir::{DeadlockMode, Fairness, PropertyId, RuleId};

use crate::need::{Ask, EngineKind, Need, Support, support};
use crate::partial_order::Relations;
use crate::seam::Identity;

/// The options of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// Which state to expand next.
    pub order: SearchOrder,
    /// What counts as a deadlock; [`DeadlockMode::Off`] if it is not checked.
    pub deadlock: DeadlockMode,
    /// Rules that change something which is not part of these states whenever they can fire: where a step that changes
    /// nothing counts as none, a state in which one of them can fire is still not a deadlock.
    pub moving_rules: Vec<RuleId>,
    /// The greatest number of states to store.
    pub max_states: Option<u64>,
    /// The greatest number of steps from a start.
    pub max_depth: Option<u64>,
    /// The greatest number of bytes to use for stored states.
    pub max_memory: Option<u64>,
    /// Where to continue when memory is full. Only breadth-first, with the exact store, without liveness properties,
    /// graphs, checkpoints and markers.
    pub spill: Option<Spill>,
    /// The properties to check; all if `None`. Assumptions always apply.
    pub properties: Option<Vec<PropertyId>>,
    /// The instances of liveness properties to check, if not all of them.
    pub liveness: Vec<LivenessScope>,
    /// Where to write a checkpoint when the search ends before it is finished, and whenever the observer requests it.
    /// Breadth-first only.
    pub checkpoint: Option<PathBuf>,
    /// The checkpoint of an earlier search from which to resume. Breadth-first only.
    pub resume: Option<PathBuf>,
    /// What tells this model from others, in words: names and values, such as constants that were given other values.
    /// A checkpoint keeps them to say what differs when it does not fit.
    pub origin: Vec<(String, String)>,
    /// How states are stored. Approximate stores require breadth-first searches without checkpoints, graphs, liveness,
    /// and markers with canonicalization.
    pub store: StoreMode,
    /// The number of bytes of stored states at which an exact store becomes dense ([`StoreMode::Dense`]), where that is
    /// possible. Never if `None`.
    pub dense_from: Option<u64>,
    /// The largest number of threads. Depth-first searches, those that draw a graph, those of models with liveness
    /// properties and those with an approximate store use one; the results are the same.
    pub threads: u32,
    /// The number of states up to which several threads search in the order of one. Beyond, the order within a level is a
    /// matter of chance: a level in which something is wrong is searched to its end, and the run to it is one of the
    /// shortest. Verdicts, counts and depth are the same in each run. Searches with a limit on states, checkpoints,
    /// disk, stores that are dense from the beginning, markers and comparisons keep the order.
    pub ordered_states: u64,
    /// Whether transient states are stored, counted and expanded like others. In any case no claim applies to them.
    pub store_passing: bool,
    /// Whether a run-time error of the model is reported as a violation. If not, it still ends the search, since the
    /// model has no meaning afterwards, and leaves the rest inconclusive.
    pub errors: bool,
    /// Which infinite runs count for temporal properties.
    pub fairness: FairnessMode,
    /// The number of nodes of a product that are first searched depth-first and without symmetries: finding these takes
    /// longer.
    pub temporal_trial: u64,
    /// The work that looking for symmetries of a product may take. If it takes more, the product is searched without.
    pub temporal_detection: u64,
    /// How many violations to look for.
    pub violations: ViolationLimit,
    /// What instances of rules do to each other, if a part of the steps is taken where that suffices. They must be those
    /// of the model, for what is checked.
    pub partial_order: Option<Arc<Relations>>,
    /// Whether searches for temporal properties take a part of the steps where that suffices.
    pub temporal_parts: TemporalParts,
    /// When an unreduced search packs states by the values it has seen.
    pub narrowing: Narrowing,
    /// Whether a reduced search is compared with an unreduced one, state by state.
    pub cross_check: bool,
    /// Whether a finished search counts how often rules fire, by a second look at every state. Not known where states
    /// are forgotten, or an orbit may be stored several times.
    pub statistics: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            order: SearchOrder::BreadthFirst,
            deadlock: DeadlockMode::Stuttering,
            moving_rules: Vec::new(),
            max_states: None,
            max_depth: None,
            max_memory: None,
            spill: None,
            properties: None,
            liveness: Vec::new(),
            checkpoint: None,
            resume: None,
            origin: Vec::new(),
            store: StoreMode::Exact,
            dense_from: None,
            threads: 1,
            ordered_states: u64::MAX,
            store_passing: false,
            errors: true,
            fairness: FairnessMode::default(),
            temporal_trial: 1 << 15,
            temporal_detection: u64::MAX,
            violations: ViolationLimit::default(),
            partial_order: None,
            temporal_parts: TemporalParts::default(),
            narrowing: Narrowing::default(),
            cross_check: false,
            statistics: false,
        }
    }
}

/// Whether searches for temporal properties take a part of the steps where that suffices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TemporalParts {
    /// They take all steps.
    #[default]
    Never,
    /// They do if that leads to few states, and is found out with little work. Small searches take all steps.
    IfFew {
        /// The largest number of states.
        states: u64,
        /// The work for what steps do to each other, in nodes of functions.
        work: u64,
    },
    /// They do; if they cannot, the report says why, and there is no verdict.
    Always,
}

/// When a search packs states by the values it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrowing {
    /// The minimum number of states.
    pub states: u64,
    /// The minimum number of states per node of the compiled rules, divided by the number of words saved: recompiling
    /// the rules must not take longer than it saves.
    pub states_per_node: u64,
    /// The minimum number of words of a state.
    pub least_words: usize,
    /// The minimum saving of words, in per cent.
    pub least_saving: usize,
    /// On several threads: the minimum number of words saved,
    pub parallel_saving: usize,
    /// and the minimum number of states, which a single thread examines.
    pub parallel_states: u64,
    /// How often the layout may be outgrown before it has room for everything.
    pub attempts: u32,
}

impl Default for Narrowing {
    fn default() -> Self {
        Self {
            states: 1 << 14,
            states_per_node: 320,
            least_words: 2,
            least_saving: 25,
            parallel_saving: 1,
            parallel_states: 1 << 16,
            attempts: 8,
        }
    }
}

impl Narrowing {
    /// States always have room for everything.
    pub const NEVER: Self = Self {
        states: u64::MAX,
        states_per_node: 0,
        least_words: usize::MAX,
        least_saving: 100,
        parallel_saving: 0,
        parallel_states: 0,
        attempts: 0,
    };
}

/// How many violations a search looks for. One run is kept for each property that is violated and for each kind of
/// error: a deadlock, and each way and place in which a step goes wrong.
///
/// A search that continues past violations expands states that violate an invariant like others; a step that goes
/// wrong leads nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ViolationLimit {
    /// It ends at the first.
    #[default]
    First,
    /// It ends when there are so many.
    Kinds(u64),
    /// It finds all of them.
    All,
}

impl ViolationLimit {
    /// Whether a search continues past a violation.
    pub fn collects(self) -> bool {
        self != Self::First
    }
}

/// Disk space for states that do not fit into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// A folder on the disk. The files in it are unnamed and disappear with the search.
    pub folder: PathBuf,
    /// The greatest number of bytes to use.
    pub max_bytes: Option<u64>,
}

/// How states are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StoreMode {
    /// Unchanged; in few bytes if there are very many ([`SearchOptions::dense_from`]).
    #[default]
    Exact,
    /// In few bytes each, without loss. Runs are rebuilt by a second search. Only breadth-first, without liveness
    /// properties, graphs, checkpoints, disk, markers, partial order and comparisons.
    Dense,
    /// As 64-bit hashes: a state may be missed because another has the same hash.
    Compact,
    /// As three bits each in a table of a given size: a state may be missed because others have set its bits.
    Bitstate {
        /// The size of the bit table.
        bytes: u64,
    },
}

impl StoreMode {
    /// Whether a state may be missed.
    pub fn is_approximate(self) -> bool {
        matches!(self, Self::Compact | Self::Bitstate { .. })
    }
}

/// The instances of a liveness property that a search checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivenessScope {
    /// The property.
    pub property: PropertyId,
    /// The instances.
    pub instances: Instances,
}

/// Some of the instances of a property, by the cells of their parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instances {
    /// Only these. The condition is not even evaluated for others.
    Only(Vec<Vec<i64>>),
    /// All except these. The condition is evaluated for all, since evaluation may fail.
    AllBut(Vec<Vec<i64>>),
}

impl SearchOptions {
    /// What is asked of an engine that searches states one by one. `draws` says that the graph is requested, `judges` that
    /// there are liveness properties to check.
    pub fn need(&self, identity: Identity, draws: bool, judges: bool) -> Need {
        Need::new([
            (Ask::Liveness, judges),
            (Ask::Graph, draws),
            (Ask::DepthFirst, self.order == SearchOrder::DepthFirst),
            (Ask::Markers, identity == Identity::Keys),
            (Ask::MarkersCanonical, identity == Identity::KeysAndMatches),
            (Ask::PartialOrder, self.partial_order.is_some()),
            (Ask::ApproximateStore, self.store.is_approximate()),
            (Ask::DenseStore, self.store == StoreMode::Dense),
            (Ask::Spill, self.spill.is_some()),
            (Ask::Checkpoint, self.checkpoint.is_some()),
            (Ask::Resume, self.resume.is_some()),
            // Markers that differ only by chance are for whoever asks for the comparison.
            (Ask::CrossCheck, self.cross_check && identity != Identity::Keys),
            (Ask::AllErrors, self.violations.collects()),
        ])
    }

    /// Why the requested combination is refused, if it is. `draws` says that the graph is requested, `judges` that
    /// there are liveness properties to check.
    pub fn refusal(&self, identity: Identity, draws: bool, judges: bool) -> Option<&'static str> {
        match self.need(identity, draws, judges).supported_by(EngineKind::Explicit) {
            Support::Yes => None,
            Support::No(reason) => Some(reason.unnamed()),
        }
    }

    /// Whether states may be stored in few bytes.
    fn may_be_dense(&self, identity: Identity, draws: bool, judges: bool) -> bool {
        let need = self.need(identity, draws, judges);
        // The disk decides about dense stores.
        !need.has(Ask::Spill) && support(EngineKind::Dense, &need) == Support::Yes
    }

    /// Whether states may be found in any order within a level.
    pub fn permits_any_order(&self, identity: Identity) -> bool {
        self.ordered_states < u64::MAX
            && identity == Identity::Words
            && self.store == StoreMode::Exact
            && self.max_states.is_none()
            && self.checkpoint.is_none()
            && self.spill.is_none()
            && !self.cross_check
    }

    /// The number of bytes at which the store of a search becomes dense, if it does.
    pub fn dense_at(&self, identity: Identity, draws: bool, judges: bool) -> Option<u64> {
        match self.store {
            StoreMode::Dense => Some(0),
            StoreMode::Exact if self.may_be_dense(identity, draws, judges) => self.dense_from,
            _ => None,
        }
    }

    /// Whether the condition of a liveness property is evaluated for an instance.
    pub fn evaluates(&self, property: PropertyId, arguments: &[i64]) -> bool {
        self.liveness.iter().filter(|scope| scope.property == property).all(|scope| match &scope.instances {
            Instances::Only(instances) => instances.iter().any(|instance| instance == arguments),
            Instances::AllBut(_) => true,
        })
    }

    /// Whether an instance of a liveness property is checked.
    pub fn judges(&self, property: PropertyId, arguments: &[i64]) -> bool {
        self.liveness.iter().filter(|scope| scope.property == property).all(|scope| match &scope.instances {
            Instances::Only(instances) => instances.iter().any(|instance| instance == arguments),
            Instances::AllBut(instances) => instances.iter().all(|instance| instance != arguments),
        })
    }
}

/// Which infinite runs count for temporal properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FairnessMode {
    /// All, except those that the text of the model calls unfair.
    #[default]
    None,
    /// Those on which every process that can always move from some point on moves infinitely often. Without processes:
    /// every instance of a rule.
    Weak,
    /// Those on which every process that can move infinitely often moves infinitely often.
    Strong,
    /// Those on which every event that is always possible from some point on happens infinitely often. Without events:
    /// every instance of a rule.
    WeakEvent,
    /// Those on which every event that is possible infinitely often happens infinitely often.
    StrongEvent,
    /// As [`FairnessMode::Weak`], for models with processes.
    WeakProcess,
    /// As [`FairnessMode::Strong`], for models with processes.
    StrongProcess,
    /// Those that choose each step of each state with a positive probability: a formula holds if its probability is 1.
    Global,
}

/// What a fairness mode treats fairly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FairnessScope {
    /// Processes, or instances of rules in a model without processes.
    Usual,
    /// Events, or instances of rules in a model without events.
    Events,
    /// Processes.
    Processes,
}

impl FairnessMode {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::Weak,
        Self::Strong,
        Self::WeakEvent,
        Self::StrongEvent,
        Self::WeakProcess,
        Self::StrongProcess,
        Self::Global,
    ];

    /// What classes are guaranteed.
    pub fn strength(self) -> Fairness {
        match self {
            Self::None | Self::Global => Fairness::None,
            Self::Weak | Self::WeakEvent | Self::WeakProcess => Fairness::Weak,
            Self::Strong | Self::StrongEvent | Self::StrongProcess => Fairness::Strong,
        }
    }

    /// Which classes there are.
    pub fn scope(self) -> FairnessScope {
        match self {
            Self::None | Self::Weak | Self::Strong | Self::Global => FairnessScope::Usual,
            Self::WeakEvent | Self::StrongEvent => FairnessScope::Events,
            Self::WeakProcess | Self::StrongProcess => FairnessScope::Processes,
        }
    }

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Strong => "strong",
            Self::WeakEvent => "weak-event",
            Self::StrongEvent => "strong-event",
            Self::WeakProcess => "weak-process",
            Self::StrongProcess => "strong-process",
            Self::Global => "global",
        }
    }
}

/// Which state to expand next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchOrder {
    /// The one found first: traces are shortest.
    #[default]
    BreadthFirst,
    /// The one found last.
    DepthFirst,
}
