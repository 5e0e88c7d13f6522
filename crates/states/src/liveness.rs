//! Liveness: can a state that satisfies the condition be reached from every reachable state?
//!
//! In a finite graph every state reaches a strongly connected component that cannot be left (a bottom component), and
//! inside such a component every state reaches every other. So the condition can be reached from everywhere exactly if
//! each bottom component has a state where it holds. One depth-first pass finds these components for all properties and
//! valuations at once.
//!
//! No edges are stored: a state is expanded again when the search returns to it, which happens once for each state it
//! discovers, so each state is expanded about twice. The single-array form of Tarjan's algorithm is due to D. J.
//! Pearce, "A space-efficient algorithm for finding strongly connected components", Information Processing Letters 116
//! (2016).

use std::ops::ControlFlow;

use quotient_ir::Violation;

use crate::exploration::{Exploration, Finding};
use crate::lookup::Lookup;
use crate::shards::Shards;
use crate::store::StateNumber;
use quotient_search::{Checks, Event, Observer, Progress, SearchOptions, SearchSpace, StopReason, is_passing};

/// The rank of an unvisited state.
const UNVISITED: u32 = 0;
/// The rank of a state whose component is complete.
const COMPLETE: u32 = u32::MAX;
/// The rank of a transient state from which nothing else can be reached.
const VOID: u32 = u32::MAX - 1;
/// Expansions between reports of progress.
const PROGRESS_INTERVAL: u64 = 2048;

/// For each property, a state from which its condition can no longer be reached, if there is one: of the states in
/// bottom components that violate it, the one found first. The search must be finished.
///
/// # Errors
/// If the observer stops the pass or the memory limit does not allow it.
pub(crate) fn find_dead_ends<S: SearchSpace>(
    system: &S,
    exploration: &Exploration,
    checks: &Checks,
    options: &SearchOptions,
    observer: &mut dyn Observer,
) -> Result<Vec<Option<Finding>>, StopReason> {
    let (store, properties) = (&exploration.store, &checks.liveness[..]);
    let states = store.bound() as usize;
    // A rank, a bit, and at worst a position on the path.
    let memory_bytes = store.memory_bytes() + 12 * states as u64 + states as u64 / 8;
    if let Some(limit) = options.max_memory.filter(|&limit| memory_bytes > limit) {
        return Err(StopReason::MemoryLimit(limit));
    }
    let progress = Progress {
        states: store.len(),
        transitions: exploration.transitions,
        frontier: 0,
        depth: exploration.depth,
        memory_bytes,
    };
    let mut pass = Pass {
        system,
        store,
        checks,
        options,
        ranks: vec![UNVISITED; states],
        leaves: vec![0; states.div_ceil(64)],
        pending: Vec::new(),
        dead_ends: vec![None; properties.len()],
        scratch: system.scratch(),
        lookup: Lookup::new(system),
        expansions: 0,
        progress,
        observer,
    };
    for root in store.numbers() {
        if pass.ranks[root as usize] == UNVISITED {
            pass.visit_from(root)?;
        }
    }
    let found = pass.dead_ends.into_iter().zip(properties);
    Ok(found
        .map(|(dead_end, &property)| {
            dead_end.map(|(number, arguments)| Finding {
                origin: Some(number),
                state: None,
                violation: Violation::Unreachable { property, arguments },
                kept_kind: None,
            })
        })
        .collect())
}

struct Pass<'a, S: SearchSpace> {
    system: &'a S,
    store: &'a Shards,
    checks: &'a Checks,
    options: &'a SearchOptions,
    /// The order of the visit, lowered to that of the earliest state known to be in the same component.
    ranks: Vec<u32>,
    /// One bit per state: a step from it leads to a complete component.
    leaves: Vec<u64>,
    /// Visited states that are off the path but whose component is incomplete.
    pending: Vec<StateNumber>,
    dead_ends: Vec<Option<(StateNumber, Vec<i64>)>>,
    scratch: S::Scratch,
    lookup: Lookup<'a, S>,
    expansions: u64,
    progress: Progress,
    observer: &'a mut dyn Observer,
}

impl<S: SearchSpace> Pass<'_, S> {
    fn visit_from(&mut self, root: StateNumber) -> Result<(), StopReason> {
        // Ranks start anew for each root: all earlier states are complete.
        let mut next_rank = 1;
        // A state on the path and the rank it got when it was entered.
        let mut path = vec![(root, next_rank)];
        self.ranks[root as usize] = next_rank;
        while let Some(&(state, entered)) = path.last() {
            self.tick()?;
            match self.next_unvisited(state) {
                Some(successor) => {
                    next_rank += 1;
                    self.ranks[successor as usize] = next_rank;
                    path.push((successor, next_rank));
                }
                None => {
                    path.pop();
                    if self.ranks[state as usize] < entered {
                        self.pending.push(state);
                    } else {
                        let members = self.complete(state, entered);
                        next_rank -= members;
                    }
                }
            }
        }
        Ok(())
    }

    /// The first unvisited successor of a state. Records the others along the way, which may safely be repeated.
    fn next_unvisited(&mut self, state: StateNumber) -> Option<StateNumber> {
        let Self { store, ranks, lookup, .. } = self;
        let (store, ranks) = (*store, &*ranks);
        let mut rank = ranks[state as usize];
        let mut leaves = false;
        let mut unvisited = None;
        self.system.successors(&mut self.scratch, store.state(state), &mut |_, event| {
            // A successor that an assumption drops is not stored and does not exist here.
            if let Event::Next { state, .. } = event
                && let Some(successor) = store.find(lookup, state)
            {
                match ranks[successor as usize] {
                    UNVISITED => {
                        unvisited = Some(successor);
                        return ControlFlow::Break(());
                    }
                    COMPLETE => leaves = true,
                    VOID => {}
                    other => rank = rank.min(other),
                }
            }
            ControlFlow::Continue(())
        });
        self.ranks[state as usize] = rank;
        if leaves {
            self.leaves[state as usize / 64] |= 1 << (state % 64);
        }
        unvisited
    }

    /// Completes the component whose first visited state is `root`. Returns its size.
    fn complete(&mut self, root: StateNumber, entered: u32) -> u32 {
        let first =
            self.pending.iter().rposition(|&state| self.ranks[state as usize] < entered).map_or(0, |below| below + 1);
        let mut members = self.pending.split_off(first);
        members.push(root);
        let can_be_left = members.iter().any(|&state| self.leaves[state as usize / 64] >> (state % 64) & 1 == 1);
        let is_void = !can_be_left && members.iter().all(|&state| self.is_passing(state));
        for &state in &members {
            self.ranks[state as usize] = if is_void { VOID } else { COMPLETE };
        }
        if !can_be_left && !is_void {
            self.judge(&members);
        }
        members.len() as u32
    }

    /// Whether a state is stored although it is transient.
    fn is_passing(&mut self, state: StateNumber) -> bool {
        let state = self.store.state(state);
        self.options.store_passing && is_passing(self.system, &mut self.scratch, &self.checks.passing, state)
    }

    /// Records for which properties a bottom component is a dead end.
    fn judge(&mut self, members: &[StateNumber]) {
        for (position, &property) in self.checks.liveness.iter().enumerate() {
            // Valuations come in the same order for every state.
            let mut satisfied: Vec<bool> = Vec::new();
            let mut failure = Vec::new();
            for &state in members {
                let mut valuation = 0;
                let mut all = true;
                // No claim applies to a transient state: it satisfies nothing.
                let counts = !self.is_passing(state);
                self.system.evaluate(&mut self.scratch, property, self.store.state(state), &mut |arguments, result| {
                    if satisfied.len() == valuation {
                        satisfied.push(!self.options.judges(property, arguments));
                    }
                    // Every condition had a value in every state when it was stored.
                    satisfied[valuation] |= counts && result.unwrap_or(false);
                    if all && !satisfied[valuation] {
                        all = false;
                        failure = arguments.to_vec();
                    }
                    valuation += 1;
                    ControlFlow::Continue(())
                });
                if all {
                    break;
                }
            }
            if satisfied.contains(&false) {
                let earliest = members.iter().copied().min().expect("a component has a state");
                let known = &mut self.dead_ends[position];
                if known.as_ref().is_none_or(|&(number, _)| earliest < number) {
                    *known = Some((earliest, failure));
                }
            }
        }
    }

    fn tick(&mut self) -> Result<(), StopReason> {
        self.expansions += 1;
        if self.expansions.is_multiple_of(PROGRESS_INTERVAL)
            && let ControlFlow::Break(reason) = self.observer.progress(&self.progress)
        {
            return Err(reason);
        }
        Ok(())
    }
}
