//! The result of a search, with the states that it stored.

use std::ops::Range;

use quotient_ir::{PropertyId, Violation};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dense::ancestry::Ancestry;
use crate::records::DiskError;
use crate::shards::Shards;
use crate::store::StateNumber;
use crate::violation_kind::ViolationKind;
use quotient_search::{Approximation, SearchOrder, StopReason};

/// A violation, and how to reach it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The last stored state of the run; none if a start itself leads to the violation.
    pub origin: Option<StateNumber>,
    /// A state after the origin that was not stored.
    pub state: Option<Vec<u64>>,
    /// The violation in the last of these states.
    pub violation: Violation,
    /// The kind of the violation, if nothing else is known of it, since it was read from a checkpoint.
    pub kept_kind: Option<ViolationKind>,
}

/// The counts and results of a search so far, besides its states.
#[derive(Clone, Debug, Default)]
pub struct SearchTotals {
    /// The number of steps from a start to the states being expanded.
    pub level: u64,
    /// The number of steps from a start to the deepest state.
    pub depth: u64,
    /// Rule instances fired.
    pub transitions: u64,
    /// The cover properties that were reached.
    pub covered: Vec<PropertyId>,
    /// States of each level, up to the one that is being expanded.
    pub levels: Vec<u64>,
    /// States that were not expanded because of a constraint.
    pub unexpanded: u64,
    /// The violations that the search continued past.
    pub findings: Vec<Finding>,
}

/// How a search ended.
#[derive(Clone, Debug)]
pub enum End {
    /// Every reachable state was expanded.
    Finished,
    /// It was stopped.
    Stopped(StopReason),
    /// A violation was found.
    Found(Finding),
}

/// The result of a search.
#[derive(Debug)]
pub struct Exploration {
    /// How it ended.
    pub end: End,
    /// The stored states.
    pub store: Shards,
    /// The number of states that count.
    pub states: u64,
    /// States stored after the end, which do not count; only with several threads.
    pub surplus: FxHashSet<StateNumber>,
    /// Rule instances fired.
    pub transitions: u64,
    /// Steps from a start to the deepest state.
    pub depth: u64,
    /// States of each level that was expanded. The rest is one level more.
    pub levels: Vec<u64>,
    /// The peak number of bytes used for stored states.
    pub memory_bytes: u64,
    /// The cover properties that were reached.
    pub covered: Vec<PropertyId>,
    /// States that were not expanded, since a constraint does not hold in them.
    pub unexpanded: u64,
    /// The violations that the search continued past, one of each kind.
    pub findings: Vec<Finding>,
    /// How much may have been missed.
    pub approximation: Option<Approximation>,
    /// The point where another search can continue; only after a breadth-first search on one thread that was stopped.
    pub rest: Option<Rest>,
    /// The parents of all states in the order of the search, if the store does not know them. Findings have the numbers
    /// of this order.
    pub ancestry: Option<Ancestry>,
    /// The words of the states that findings come from, if nothing tells the parents of states: the store is dense, and
    /// the order of the search was a matter of chance.
    pub origins: FxHashMap<StateNumber, Vec<u64>>,
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
pub struct Rest {
    /// The results so far.
    pub totals: SearchTotals,
    /// States of the level that wait for expansion.
    pub current: Range<StateNumber>,
    /// States of the next level so far.
    pub next: Range<StateNumber>,
}

/// An early end, boxed since it is large and rare.
pub type Halt = Box<End>;

impl From<DiskError> for Halt {
    fn from(error: DiskError) -> Self {
        Box::new(End::Stopped(error.into()))
    }
}

/// The end of a search that stops for a reason.
#[inline]
pub fn stop(reason: StopReason) -> Halt {
    Box::new(End::Stopped(reason))
}

/// Records a cover property that was reached.
#[inline]
pub fn note(covered: &mut Vec<PropertyId>, property: PropertyId) {
    if !covered.contains(&property) {
        covered.push(property);
    }
}
