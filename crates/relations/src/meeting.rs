//! Pairs of steps that share one slot and nothing else, told apart by what they do with it.
//!
//! Whether such steps accord depends on the parts of their guards about that slot and on what they write to it. Where
//! thousands of processes share a variable, their steps are of a few sorts, and the question is asked once for each pair of
//! sorts instead of each pair of steps.

use quotient_functions::{Event, Node, NodeId, Written};
use rustc_hash::FxHashMap;

use crate::deciding::Decider;

/// What a step does with one slot.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Share {
    slot: u32,
    /// The part of its guard about the slot.
    guard: NodeId,
    /// What is written to the slot, and when; that depends on nothing but the slot.
    written: Option<Vec<(Option<i64>, NodeId)>>,
}

/// What has been found out.
#[derive(Default)]
pub(super) struct Meetings {
    sorts: FxHashMap<Share, u32>,
    /// For a step and a slot, its sort and the part of its guard; none if the rest of the step depends on the slot.
    of_steps: FxHashMap<(usize, u32), Option<(u32, NodeId)>>,
    answers: FxHashMap<(u32, u32), bool>,
}

impl Meetings {
    /// Whether two steps that share this slot and no other accord, each with its number, its event and its guard; none if
    /// more matters than what they do with the slot.
    pub(super) fn accord(
        &mut self,
        decider: &mut Decider<'_>,
        slot: u32,
        first: (usize, usize, NodeId),
        second: (usize, usize, NodeId),
    ) -> Option<bool> {
        let (one, own) = self.sort(decider, slot, first)?;
        let (other, others) = self.sort(decider, slot, second)?;
        let sorts = (one.min(other), one.max(other));
        if let Some(&known) = self.answers.get(&sorts) {
            return Some(known);
        }
        // With the other parts of the guards left out, the answer is about every pair of these sorts.
        let answer = decider.accord((first.1, own), (second.1, others)) && !decider.composer.circuit.is_spent();
        self.answers.insert(sorts, answer);
        Some(answer)
    }

    fn sort(
        &mut self,
        decider: &mut Decider<'_>,
        slot: u32,
        (step, event, guard): (usize, usize, NodeId),
    ) -> Option<(u32, NodeId)> {
        if let Some(&known) = self.of_steps.get(&(step, slot)) {
            return known;
        }
        let sort = share(decider, slot, event, guard).map(|share| {
            let (guard, number) = (share.guard, self.sorts.len() as u32);
            (*self.sorts.entry(share).or_insert(number), guard)
        });
        self.of_steps.insert((step, slot), sort);
        sort
    }
}

/// What a step does with a slot, if the rest of it does not depend on the slot, nor this on others.
fn share(decider: &mut Decider<'_>, slot: u32, event: usize, guard: NodeId) -> Option<Share> {
    let composer = &mut decider.composer;
    let event: &Event = decider.events.get(event)?;
    if composer.is_in_multiset(slot) || composer.circuit.is_wide(slot) || composer.changes_multisets(event) {
        return None;
    }
    let parts = match composer.circuit.node(guard) {
        Node::And(children) => children.to_vec(),
        _ => vec![guard],
    };
    let mut own = Vec::new();
    for part in parts {
        match *composer.support(part) {
            [only] if only == slot => own.push(part),
            ref support if support.contains(&slot) => return None,
            _ => {}
        }
    }
    let mut written = None;
    for write in &event.writes {
        let Written::Cases(cases) = &write.written else { return None };
        for &(_, condition) in cases {
            let support = composer.support(condition);
            let is_separate = match write.slot == slot {
                true => support.iter().all(|&other| other == slot),
                false => !support.contains(&slot),
            };
            if !is_separate {
                return None;
            }
        }
        if write.slot == slot {
            written = Some(cases.clone());
        }
    }
    Some(Share { slot, guard: composer.circuit.and(own), written })
}

/// The slot that two steps share, if it is one. Their slots are in increasing order.
pub(super) fn only_common(first: &[u32], second: &[u32]) -> Option<u32> {
    let (mut one, mut other) = (0, 0);
    let mut found = None;
    while one < first.len() && other < second.len() {
        match first[one].cmp(&second[other]) {
            std::cmp::Ordering::Less => one += 1,
            std::cmp::Ordering::Greater => other += 1,
            std::cmp::Ordering::Equal => {
                if found.replace(first[one]).is_some() {
                    return None;
                }
                (one, other) = (one + 1, other + 1);
            }
        }
    }
    found
}
