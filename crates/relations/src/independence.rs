//! Whether a step through transient states accords with another step.
//!
//! A slot with one value in all stored states (the process that runs alone) separates steps that have nothing to do with
//! each other. Without it, let an event of the other step be possible in the first state. If on the way it neither
//! becomes impossible nor changes which events are possible, and commutes with each of them, then it can be moved along
//! the way from its beginning to its end: every way has its image after the other step, and the other way round.

use quotient_functions::{Node, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::deciding::Decider;

/// An event on the way of a step, in some of the states of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Passage {
    pub(super) event: usize,
    /// What is known of the states, without slots with one value in all stored states.
    pub(super) states: NodeId,
    /// When the event takes a step, likewise.
    pub(super) guard: NodeId,
    /// Whether it is not the first event of the way.
    pub(super) is_inside: bool,
}

/// What has been found out.
#[derive(Default)]
pub(super) struct Independence {
    known: FxHashMap<(Passage, Passage), bool>,
}

/// A condition without its parts on some slots; `None` if these slots occur in other parts.
pub(super) fn without(decider: &mut Decider<'_>, condition: NodeId, slots: &FxHashSet<u32>) -> Option<NodeId> {
    let parts = match decider.composer.circuit.node(condition) {
        Node::And(children) => children.to_vec(),
        _ => vec![condition],
    };
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        let mentions = decider.composer.support(part).iter().any(|slot| slots.contains(slot));
        match decider.composer.circuit.node(part) {
            _ if !mentions => kept.push(part),
            Node::In { .. } => {}
            _ => return None,
        }
    }
    Some(decider.composer.circuit.and(kept))
}

impl Independence {
    /// Whether all events on two ways can be exchanged. The slots are those with one value in all stored states.
    pub(super) fn of_ways(
        &mut self,
        decider: &mut Decider<'_>,
        first: &[Passage],
        second: &[Passage],
        slots: &FxHashSet<u32>,
    ) -> bool {
        first.iter().all(|&one| {
            second.iter().all(|&other| {
                if let Some(&known) = self.known.get(&(one, other)) {
                    return known;
                }
                let answer = are_independent(decider, one, other, slots);
                self.known.insert((one, other), answer);
                self.known.insert((other, one), answer);
                answer
            })
        })
    }
}

fn are_independent(decider: &mut Decider<'_>, first: Passage, second: Passage, slots: &FxHashSet<u32>) -> bool {
    if !decider.touch(first.event, second.event) && !decider.touch(second.event, first.event) {
        return true;
    }
    for (one, other) in [(first, second), (second, first)] {
        let steps = decider.composer.circuit.and([one.states, one.guard, other.states]);
        if decider.changes_findings(one.event, other.event)
            || other.is_inside && decider.may_enable(one.event, steps, other.guard)
        {
            return false;
        }
    }
    let of = |decider: &mut Decider<'_>, passage: Passage| {
        let guard = decider.composer.circuit.and([passage.states, passage.guard]);
        (passage.event, guard)
    };
    let (one, other) = (of(decider, first), of(decider, second));
    decider.accord_but_for(one, other, slots) && !decider.composer.circuit.is_spent()
}
