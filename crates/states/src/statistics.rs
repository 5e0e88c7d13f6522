//! How often each rule fires, counted after a finished search by a second look at every stored state.
//!
//! Searches count transitions and do not count rules: a counter in the loop that looks up successors would be paid for
//! by everybody. In a quotient, a stored state counts as often as its orbit has states. The symmetries of such a search
//! map the instances that are enabled in a state one to one to those that are enabled in its image (they preserve firings),
//! but perhaps to instances of other rules: so the sum over an orbit of rules is that of the unreduced search, and the
//! share of each of them is not known.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use num_bigint::BigUint;
use quotient_ir::{Action, Model, RuleId, TableIndex};
use quotient_representatives::Cardinality;
use rustc_hash::FxHashSet;

use crate::exploration::Exploration;
use quotient_search::{Event, Instance, Observer, Progress, RuleFirings, SearchSpace};

/// The number of concrete states that a stored state represents, if known.
pub(crate) type OrbitSize<'a> = &'a mut dyn FnMut(&[u64]) -> Option<Cardinality>;

/// How many states are looked at between reports of progress.
const INTERVAL: u64 = 1024;

/// Counts the steps of a finished search by rules. Nothing if the size of an orbit is not known, states were forgotten
/// or cannot be read, or the observer does not want to wait. Rules with the same class are counted together; without
/// classes, each is by itself.
pub(crate) fn count_firings<S: SearchSpace>(
    system: &S,
    exploration: &Exploration,
    model: &Model,
    classes: Option<&[u32]>,
    mut orbit_size: Option<OrbitSize<'_>>,
    observer: &mut dyn Observer,
) -> Option<Vec<RuleFirings>> {
    if exploration.approximation.is_some() {
        return None;
    }
    let progress = Progress {
        states: exploration.states,
        transitions: exploration.transitions,
        frontier: 0,
        depth: exploration.depth,
        memory_bytes: exploration.memory_bytes,
    };
    let rules = model.rules.len();
    let mut counter = FiringCounter::new(system, rules);
    // States that are passed through after starts belong to no stored state.
    if model.passing().next().is_some() {
        counter.count_after_starts();
    }
    let mut totals: Vec<BigUint> = counter.take().map(BigUint::from).collect();
    let mut looked_at = 0u64;
    let visited = exploration.store.visit(&exploration.surplus, |state| {
        let weight = match &mut orbit_size {
            None => BigUint::from(1u32),
            Some(orbit_size) => match orbit_size(state) {
                Some(size) => size.into(),
                None => return ControlFlow::Break(()),
            },
        };
        counter.count_from(state);
        for (total, times) in totals.iter_mut().zip(counter.take()) {
            if times > 0 {
                *total += &weight * times;
            }
        }
        looked_at += 1;
        if looked_at.is_multiple_of(INTERVAL) && observer.progress(&progress).is_break() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    if !matches!(visited, Ok(ControlFlow::Continue(()))) {
        return None;
    }
    let mut firings: Vec<RuleFirings> = Vec::new();
    let mut entries: Vec<Option<usize>> = vec![None; rules];
    for (rule, times) in totals.into_iter().enumerate() {
        let class = classes.map_or(rule, |classes| classes[rule] as usize);
        let entry = *entries[class].get_or_insert(firings.len());
        if entry == firings.len() {
            firings.push(RuleFirings { rules: Vec::new(), times: BigUint::ZERO });
        }
        firings[entry].rules.push(RuleId::from_position(rule));
        firings[entry].times += times;
    }
    Some(firings)
}

/// Counts the steps that lead from a state, by rules, with those from all states that are passed through after it.
struct FiringCounter<'a, S: SearchSpace> {
    system: &'a S,
    scratch: S::Scratch,
    looking: S::Scratch,
    times: Vec<u64>,
    seen: FxHashSet<Vec<u64>>,
    waiting: VecDeque<Vec<u64>>,
}

impl<'a, S: SearchSpace> FiringCounter<'a, S> {
    fn new(system: &'a S, rules: usize) -> Self {
        Self {
            system,
            scratch: system.scratch(),
            looking: system.scratch(),
            times: vec![0; rules],
            seen: FxHashSet::default(),
            waiting: VecDeque::new(),
        }
    }

    /// What was counted since the last call, for each rule.
    fn take(&mut self) -> impl Iterator<Item = u64> {
        self.times.iter_mut().map(std::mem::take)
    }

    fn count_after_starts(&mut self) {
        let Self { system, scratch, looking, times, seen, waiting } = self;
        system.first_steps(scratch, &mut |instance, event| {
            note(*system, looking, (times, seen, waiting), instance, event)
        });
        self.go_through();
    }

    fn count_from(&mut self, state: &[u64]) {
        self.seen.clear();
        self.fire(state);
        self.go_through();
    }

    fn go_through(&mut self) {
        while let Some(state) = self.waiting.pop_front() {
            self.fire(&state);
        }
    }

    fn fire(&mut self, state: &[u64]) {
        let Self { system, scratch, looking, times, seen, waiting } = self;
        system.steps(scratch, state, &mut |instance, event| {
            note(*system, looking, (times, seen, waiting), instance, event)
        });
    }
}

type Notes<'n> = (&'n mut Vec<u64>, &'n mut FxHashSet<Vec<u64>>, &'n mut VecDeque<Vec<u64>>);

/// Counts a step, and has states that are passed through followed.
fn note<S: SearchSpace>(
    system: &S,
    looking: &mut S::Scratch,
    (times, seen, waiting): Notes<'_>,
    instance: Instance<'_>,
    event: Event<'_>,
) -> ControlFlow<()> {
    if let Event::Next { state, .. } = event {
        if let Action::Rule(rule) = instance.action {
            times[rule.position()] += 1;
        }
        if !seen.contains(state) && system.is_passed_through(looking, state) {
            seen.insert(state.to_vec());
            waiting.push_back(state.to_vec());
        }
    }
    ControlFlow::Continue(())
}
