//! Claims about events on small graphs, by the definitions: the specification as sets of states, every pair of a state
//! and such a set, no reduction and no order.

use std::collections::BTreeSet;

use quotient_ir::Refinement;
use rustc_hash::FxHashSet;

/// A graph of steps with events. The first state is the initial one.
#[derive(Clone, Debug, Default)]
pub struct EventGraph {
    /// The steps of each state: the text of the event, none if internal, and the next state.
    pub steps: Vec<Vec<(Option<String>, usize)>>,
}

impl EventGraph {
    /// All that a set of states can become by internal steps.
    fn closure(&self, states: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut closed = states;
        loop {
            let more: BTreeSet<usize> = closed.iter().flat_map(|&state| self.after_one(state, None)).collect();
            if more.is_subset(&closed) {
                return closed;
            }
            closed.extend(more);
        }
    }

    fn after_one(&self, state: usize, event: Option<&str>) -> Vec<usize> {
        self.steps[state].iter().filter(|(it, _)| it.as_deref() == event).map(|(_, next)| *next).collect()
    }

    fn is_stable(&self, state: usize) -> bool {
        self.steps[state].iter().all(|(event, _)| event.is_some())
    }

    fn events(&self, state: usize) -> BTreeSet<&str> {
        self.steps[state].iter().filter_map(|(event, _)| event.as_deref()).collect()
    }

    /// Whether internal steps can go on forever from a state: some state that they lead to comes back to itself.
    pub fn diverges(&self, state: usize) -> bool {
        let comes_back = |&other: &usize| {
            let next: BTreeSet<usize> = self.after_one(other, None).into_iter().collect();
            self.closure(next).contains(&other)
        };
        self.closure(BTreeSet::from([state])).iter().any(comes_back)
    }

    /// Whether no reachable state diverges.
    pub fn is_divergence_free(&self) -> bool {
        (0..self.steps.len()).all(|state| !self.diverges(state))
    }

    /// Whether no event, and no internal step, leads from a state to different ones.
    pub fn is_deterministic(&self) -> bool {
        self.steps.iter().all(|steps| {
            steps.iter().all(|(event, next)| steps.iter().all(|(other, there)| event != other || next == there))
        })
    }

    /// Whether this is a refinement of a specification.
    pub fn refines(&self, specification: &Self, sense: Refinement) -> bool {
        let first = (0, specification.closure(BTreeSet::from([0])));
        let mut seen: FxHashSet<(usize, BTreeSet<usize>)> = FxHashSet::default();
        let mut pending = vec![first];
        while let Some((state, set)) = pending.pop() {
            if !seen.insert((state, set.clone())) {
                continue;
            }
            if sense == Refinement::FailuresDivergences {
                if set.iter().any(|&other| specification.diverges(other)) {
                    continue;
                }
                if self.diverges(state) {
                    return false;
                }
            }
            if sense != Refinement::Traces && self.is_stable(state) {
                let refuses_as_much = |&other: &usize| {
                    specification.is_stable(other) && specification.events(other).is_subset(&self.events(state))
                };
                if !set.iter().any(refuses_as_much) {
                    return false;
                }
            }
            for (event, next) in &self.steps[state] {
                let Some(event) = event else {
                    pending.push((*next, set.clone()));
                    continue;
                };
                let after = set.iter().flat_map(|&other| specification.after_one(other, Some(event))).collect();
                let after: BTreeSet<usize> = specification.closure(after);
                if after.is_empty() {
                    return false;
                }
                pending.push((*next, after));
            }
        }
        true
    }
}
