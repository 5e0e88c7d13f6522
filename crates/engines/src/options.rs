//! What to search, how, and how far.

use std::path::PathBuf;

use quotient_ir::{DeadlockMode, PropertyId};

/// How to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// Which state to expand next.
    pub order: SearchOrder,
    /// What counts as a deadlock. [`DeadlockMode::Off`] if it is not to be checked.
    pub deadlock: DeadlockMode,
    /// The greatest number of states to store.
    pub max_states: Option<u64>,
    /// The greatest number of steps from a start.
    pub max_depth: Option<u64>,
    /// The greatest number of bytes to use for stored states.
    pub max_memory: Option<u64>,
    /// Where to go on when that does not suffice. Breadth-first only, with the exact store, without
    /// liveness properties, graphs and checkpoints; elsewhere the search ends.
    pub spill: Option<Spill>,
    /// The properties to check; all if `None`. Assumptions apply in any case.
    pub properties: Option<Vec<PropertyId>>,
    /// Which instances of liveness properties to judge, where it is not all of them.
    pub liveness: Vec<LivenessScope>,
    /// Where to write what was found when the search ends before it is finished, and whenever the
    /// observer wants it. Breadth-first only.
    pub checkpoint: Option<PathBuf>,
    /// Where to read what an earlier search found, to go on from there. Breadth-first only.
    pub resume: Option<PathBuf>,
    /// How states are stored. Other stores than the exact one are for breadth-first searches on one
    /// thread, without checkpoints and liveness; elsewhere the exact one is used.
    pub store: StoreMode,
    /// How many threads to search with. Depth-first searches, those that draw a graph and those of
    /// models with liveness properties use one whatever this says.
    pub threads: u32,
    /// Whether states that the model wants to be passed through are stored, counted and expanded like
    /// others. No claim is about them in any case.
    pub store_passing: bool,
    /// Whether a fault of the model is a violation to report. If not, it still ends the search,
    /// since what the model does afterwards has no meaning, and leaves the rest inconclusive.
    pub errors: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            order: SearchOrder::BreadthFirst,
            deadlock: DeadlockMode::Stuttering,
            max_states: None,
            max_depth: None,
            max_memory: None,
            spill: None,
            properties: None,
            liveness: Vec::new(),
            checkpoint: None,
            resume: None,
            store: StoreMode::Exact,
            threads: 1,
            store_passing: false,
            errors: true,
        }
    }
}

/// Disk space for states that do not fit into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// A folder on the disk. The files in it have no names and vanish with the search.
    pub folder: PathBuf,
    /// The greatest number of bytes to use.
    pub max_bytes: Option<u64>,
}

/// How states are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StoreMode {
    /// As they are.
    #[default]
    Exact,
    /// As hashes of 64 bits: a state may be missed because another has the same hash.
    Compact,
    /// As three bits each in so many bytes: a state may be missed because others have set its bits.
    Bitstate {
        /// The size of the table of bits.
        bytes: u64,
    },
}

/// Which instances of a liveness property a search judges.
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
    /// These. The condition is not even evaluated for others.
    Only(Vec<Vec<i64>>),
    /// All but these. The condition is evaluated for all, since it may have no value.
    AllBut(Vec<Vec<i64>>),
}

impl SearchOptions {
    /// Whether the condition of a liveness property is evaluated for an instance.
    pub(crate) fn evaluates(&self, property: PropertyId, arguments: &[i64]) -> bool {
        self.liveness.iter().filter(|scope| scope.property == property).all(|scope| match &scope.instances {
            Instances::Only(instances) => instances.iter().any(|instance| instance == arguments),
            Instances::AllBut(_) => true,
        })
    }

    /// Whether an instance of a liveness property is judged.
    pub(crate) fn judges(&self, property: PropertyId, arguments: &[i64]) -> bool {
        self.liveness.iter().filter(|scope| scope.property == property).all(|scope| match &scope.instances {
            Instances::Only(instances) => instances.iter().any(|instance| instance == arguments),
            Instances::AllBut(instances) => instances.iter().all(|instance| instance != arguments),
        })
    }
}

/// Which state to expand next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchOrder {
    /// The one found first: traces are as short as possible.
    #[default]
    BreadthFirst,
    /// The one found last.
    DepthFirst,
}
