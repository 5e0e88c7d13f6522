//! The explicit engine: stores every reachable state (or one of each orbit), in memory (`memory`, `threads`, `unordered`) and, when
//! that is full, on disk (`disk`). All searches expand states (`expansion`), judge and admit them (`judge`) and look
//! them up (`lookup`) in the same way, and result in an [`Exploration`].

pub(crate) mod barrier;
pub(crate) mod batch;
pub(crate) mod checkpoint;
pub(crate) mod dense;
pub(crate) mod disk;
pub(crate) mod expansion;
pub(crate) mod findings;
pub(crate) mod judge;
pub(crate) mod liveness;
pub(crate) mod lookup;
mod memory;
mod pages;
pub(crate) mod rebuild;
pub(crate) mod recent;
pub(crate) mod shards;
pub(crate) mod statistics;
pub(crate) mod store;
mod threads;
mod unordered;

use std::collections::BTreeMap;
use std::ops::Range;

use quotient_ir::{PropertyId, Violation};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::observer::Observer;
use crate::options::{SearchOptions, SearchOrder, StoreMode, ViolationLimit};
use crate::report::{Approximation, EngineError, StopReason};
use crate::seam::{Facts, Identity, SearchSpace};
use checkpoint::{CheckpointSubject, ResumeError, Saved, SearchTotals};
use dense::ancestry::Ancestry;
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
    /// The parents of all states in the order of the search, if the store does not know them. Findings have the numbers
    /// of this order.
    pub(crate) ancestry: Option<Ancestry>,
    /// The words of the states that findings come from, if nothing tells the parents of states: the store is dense, and
    /// the order of the search was a matter of chance.
    pub(crate) origins: FxHashMap<StateNumber, Vec<u64>>,
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

/// The largest number of states that one thread takes over from another search for a search in no particular order.
const LARGEST_BEGINNING: u64 = 1 << 20;

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
    let mut begin = match (begin, &options.resume) {
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
    let form = Form::of(system, checks, options, graph);
    let limited;
    let (whole, options) = match options.spill {
        None => (options, options),
        Some(_) => {
            limited = SearchOptions { max_memory: options.max_memory.map(disk::share_for_states), ..options.clone() };
            (options, &limited)
        }
    };
    let is_shared = options.threads > 1 && !alone && !form.entries.is_approximate();
    let known = begin.as_ref().map_or(0, Saved::states);
    if is_shared && known <= LARGEST_BEGINNING && options.permits_any_order(identity) {
        let ordered = options.ordered_states.max(known + 1);
        let first = SearchOptions { max_states: Some(ordered), ..options.clone() };
        // Its states are kept in order: they are few.
        let usual = Form { dense_at: None, ..form };
        let found = memory::search(system, checks, &first, usual, subject, begin.take(), &mut *observer);
        let (mut exploration, _) = found.map_err(refused)?;
        match (&exploration.end, exploration.rest.take()) {
            (End::Stopped(StopReason::StateLimit(limit)), Some(rest)) if *limit == ordered => {
                return Ok(unordered::continue_search(system, checks, options, form, exploration, rest, observer));
            }
            // There are very many starts, so nothing has begun.
            (End::Stopped(StopReason::StateLimit(limit)), None) if *limit == ordered => {}
            (_, rest) => {
                exploration.rest = rest;
                return Ok(exploration);
            }
        }
    }
    let (exploration, handover) = if is_shared {
        threads::search(system, checks, options, form, subject, begin, &mut *observer)?
    } else {
        memory::search(system, checks, options, form, subject, begin, &mut *observer).map_err(refused)?
    };
    if let (Some(spill), Some(handover)) = (&options.spill, handover) {
        return Ok(disk::search_on_disk(system, checks, whole, spill, exploration, handover, observer));
    }
    Ok(exploration)
}

/// How a search stores states.
#[derive(Clone, Copy, Debug)]
struct Form {
    entries: Entries,
    /// The number of bytes at which the store becomes dense, if it does.
    dense_at: Option<u64>,
}

impl Form {
    /// The form for a search.
    fn of<S: SearchSpace>(system: &S, checks: &Checks, options: &SearchOptions, graph: bool) -> Self {
        let (identity, judges) = (system.identity(), !checks.liveness.is_empty());
        // State numbers are needed for drawing the graph, for liveness, if states are not compared by their words, and
        // for partial order, where they tell the level of a state.
        let numbered = graph
            || judges
            || system.facts().last_word() == u64::MAX
            || identity != Identity::Words
            || options.partial_order.is_some();
        let entries = match options.store {
            StoreMode::Exact | StoreMode::Dense if numbered => Entries::Numbers,
            StoreMode::Exact | StoreMode::Dense => Entries::States,
            StoreMode::Compact => Entries::Hashes,
            StoreMode::Bitstate { bytes } => Entries::Bits(bytes),
        };
        Self { entries, dense_at: options.dense_at(identity, graph, judges) }
    }
}

/// Finds the states of the runs to what a search has found, if the store has forgotten them, by repeating the search. The
/// store then has no other states.
pub(crate) fn retrace<S: SearchSpace>(
    system: &S,
    checks: &Checks,
    options: &SearchOptions,
    exploration: &mut Exploration,
    observer: &mut dyn Observer,
) {
    if exploration.approximation.is_none() && exploration.ancestry.is_none() && exploration.origins.is_empty() {
        return;
    }
    let form = Form::of(system, checks, options, observer.wants_graph());
    let Exploration { end, findings, store, ancestry, origins, .. } = exploration;
    let last = if let End::Found(finding) = end { Some(finding) } else { None };
    let mut found: Vec<&mut Finding> = findings.iter_mut().chain(last).collect();
    if found.is_empty() {
        return;
    }
    let past_violations;
    let mut options = options;
    if !origins.is_empty() {
        past_violations = SearchOptions { violations: ViolationLimit::All, ..options.clone() };
        options = &past_violations;
        *store = Shards::single(Store::new(system.words(), Entries::Numbers, None));
        let form = Form { dense_at: Some(0), ..form };
        let located = memory::locate(system, checks, options, form, origins.values().cloned(), &mut *observer);
        match located {
            Ok((numbers, parents)) => {
                for finding in &mut found {
                    finding.origin = finding.origin.map(|origin| numbers[&origins[&origin]]);
                }
                *ancestry = Some(parents);
            }
            Err(reason) => {
                *end = End::Stopped(reason);
                findings.clear();
                return;
            }
        }
    }
    let parent = |number: StateNumber| match &*ancestry {
        Some(ancestry) => ancestry.parent(number),
        None => store.parent(number),
    };
    let mut links: BTreeMap<StateNumber, Option<StateNumber>> = BTreeMap::new();
    for finding in &found {
        let mut number = finding.origin;
        while let Some(state) = number
            && !links.contains_key(&state)
        {
            number = parent(state);
            links.insert(state, number);
        }
    }
    let form = Form { dense_at: ancestry.is_some().then_some(0), ..form };
    // There may not be room for both searches.
    *store = Shards::single(Store::new(system.words(), Entries::Numbers, None));
    match memory::retrace(system, checks, options, form, &links, observer) {
        Ok(states) => {
            *store = Shards::single(states);
            for finding in &mut found {
                let number = finding.origin.and_then(|origin| links.keys().position(|&number| number == origin));
                finding.origin = number.map(|number| number as StateNumber);
            }
        }
        Err(reason) => {
            *end = End::Stopped(reason);
            findings.clear();
        }
    }
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
