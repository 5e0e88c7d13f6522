//! The explicit engine: stores every reachable state (or one of each orbit), in memory (`memory`, `threads`) and, when
//! that is full, on disk (`disk`). All searches expand states (`expansion`), judge and admit them (`judge`) and look
//! them up (`lookup`) in the same way, and result in an [`Exploration`].

pub(crate) mod barrier;
pub(crate) mod batch;
pub(crate) mod checkpoint;
pub(crate) mod disk;
pub(crate) mod expansion;
pub(crate) mod findings;
pub(crate) mod judge;
pub(crate) mod liveness;
pub(crate) mod lookup;
mod memory;
pub(crate) mod rebuild;
pub(crate) mod recent;
pub(crate) mod shards;
pub(crate) mod statistics;
pub(crate) mod store;
mod threads;

use std::ops::Range;

use quotient_ir::{PropertyId, Violation};
use rustc_hash::FxHashSet;

use crate::observer::Observer;
use crate::options::{SearchOptions, SearchOrder, StoreMode};
use crate::report::{Approximation, EngineError, StopReason};
use crate::seam::{Facts, Identity, SearchSpace};
use checkpoint::{CheckpointSubject, ResumeError, Saved, SearchTotals};
use findings::ViolationKind;
use judge::Checks;
use shards::Shards;
use store::{Entries, StateNumber, Store};

/// A violation, and how to reach it.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The last stored state of the run; none if a start itself leads to the violation.
    pub(crate) origin: Option<StateNumber>,
    /// A state after the origin that was not stored.
    pub(crate) state: Option<Vec<u64>>,
    /// The violation in the last of these states.
    pub(crate) violation: Violation,
    /// The kind of the violation, if nothing else is known of it, since it was read from a checkpoint.
    pub(crate) kept_kind: Option<ViolationKind>,
}

/// How a search ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// Every reachable state was expanded.
    Finished,
    /// It was stopped.
    Stopped(StopReason),
    /// A violation was found.
    Found(Finding),
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Exploration {
    pub(crate) end: End,
    pub(crate) store: Shards,
    /// The number of states that count.
    pub(crate) states: u64,
    /// States stored after the end, which do not count; only with several threads.
    pub(crate) surplus: FxHashSet<StateNumber>,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    /// States of each level that was expanded. The rest is one level more.
    pub(crate) levels: Vec<u64>,
    pub(crate) memory_bytes: u64,
    /// The cover properties that were reached.
    pub(crate) covered: Vec<PropertyId>,
    /// States that were not expanded, since a constraint does not hold in them.
    pub(crate) unexpanded: u64,
    /// The violations that the search continued past, one of each kind.
    pub(crate) findings: Vec<Finding>,
    /// How much may have been missed.
    pub(crate) approximation: Option<Approximation>,
    /// The point where another search can continue; only after a breadth-first search on one thread that was stopped.
    pub(crate) rest: Option<Rest>,
}

impl Exploration {
    /// How many states are so many steps from a start, the starts first; known of breadth-first searches.
    pub(crate) fn states_per_level(&self, order: SearchOrder) -> Option<Vec<u64>> {
        if order != SearchOrder::BreadthFirst {
            return None;
        }
        let mut levels = self.levels.clone();
        let last = self.states.saturating_sub(levels.iter().sum());
        if last > 0 {
            levels.push(last);
        }
        Some(levels)
    }
}

/// The point where a search was stopped.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    pub(crate) totals: SearchTotals,
    /// States of the level that wait for expansion.
    pub(crate) current: Range<StateNumber>,
    /// States of the next level so far.
    pub(crate) next: Range<StateNumber>,
}

/// Searches the reachable states of a system, from the start or from the point where another search was stopped.
pub(crate) fn explore<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    subject: &CheckpointSubject,
    begin: Option<Saved>,
    observer: &mut dyn Observer,
) -> Result<Exploration, EngineError> {
    let refused = |error: ResumeError| {
        let path = options.resume.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        EngineError::Resume { path, reason: error.to_string() }
    };
    let begin = match (begin, &options.resume) {
        (None, Some(path)) => {
            let saved = checkpoint::read(path, subject, system.words(), options).map_err(refused)?;
            observer.resumed(saved.states());
            Some(saved)
        }
        (begin, _) => begin,
    };
    if let Some(saved) = &begin {
        system.facts().note_fired_rules(&saved.fired);
    }
    let graph = observer.wants_graph();
    let identity = system.identity();
    if let Some(reason) = options.refusal(identity, graph, !checks.liveness.is_empty()) {
        return Err(EngineError::Refused(reason));
    }
    // Drawing the graph and rebuilding runs that violate liveness require the order of the whole search.
    let alone = graph || !checks.liveness.is_empty() || options.order == SearchOrder::DepthFirst;
    // State numbers are needed for drawing the graph, for liveness, if states are not compared by their words, and for
    // partial order, where they tell the level of a state.
    let numbered = graph
        || !checks.liveness.is_empty()
        || system.facts().fills_words()
        || identity != Identity::Words
        || options.partial_order.is_some();
    let entries = match options.store {
        StoreMode::Exact if numbered => Entries::Numbers,
        StoreMode::Exact => Entries::States,
        StoreMode::Compact => Entries::Hashes,
        StoreMode::Bitstate { bytes } => Entries::Bits(bytes),
    };
    let limited;
    let (whole, options) = match options.spill {
        None => (options, options),
        Some(_) => {
            limited = SearchOptions { max_memory: options.max_memory.map(disk::share_for_states), ..options.clone() };
            (options, &limited)
        }
    };
    let (mut exploration, handover) = if options.threads > 1 && !alone && !entries.is_approximate() {
        threads::search(system, checks, options, entries, subject, begin, &mut *observer)?
    } else {
        memory::search(system, checks, options, entries, subject, begin, &mut *observer).map_err(refused)?
    };
    if let (Some(spill), Some(handover)) = (&options.spill, handover) {
        return Ok(disk::search_on_disk(system, checks, whole, spill, exploration, handover, observer));
    }
    if let End::Found(finding) = &mut exploration.end
        && entries.is_approximate()
    {
        // The states of the run were forgotten: repeat the search for these states only.
        exploration.store =
            match memory::retrace(system, checks, options, entries, &exploration.store, finding, observer) {
                Ok(store) => Shards::single(store),
                Err(reason) => {
                    exploration.end = End::Stopped(reason);
                    Shards::single(Store::new(system.words(), Entries::Numbers, None))
                }
            };
    }
    Ok(exploration)
}

/// An early end, boxed since it is large and rare.
pub(crate) type Halt = Box<End>;

pub(crate) fn stop(reason: StopReason) -> Halt {
    Box::new(End::Stopped(reason))
}

/// Records a cover property that was reached.
pub(crate) fn note(covered: &mut Vec<PropertyId>, property: PropertyId) {
    if !covered.contains(&property) {
        covered.push(property);
    }
}
