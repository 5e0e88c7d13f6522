//! Which instances may fire on the way through transient states that begins with an instance.
//!
//! An over-approximation: from what the guard of the first one says about single slots, and what it writes, follows
//! which others may fire next, and so on until the state cannot be transient.

use quotient_functions::{Circuit, Event, KnownValues, NodeId};
use quotient_ir::Action;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::partial_order::composition::{Composer, exclude_each_other};

/// The largest number of sets of states that are told apart.
const SETS: usize = 4096;

/// The stretches of a model.
pub(super) struct Stretches<'a> {
    events: &'a [Event],
    guards: &'a [NodeId],
    /// Which states are transient.
    passing: NodeId,
    /// The rules that may fire in transient states, each with the values that its guard allows, and those with which it
    /// goes wrong.
    inside: Vec<(usize, [KnownValues; 2])>,
    /// For a set of transient states, the events that may fire in it, and the transient states after them.
    next: FxHashMap<NodeId, Next>,
}

/// What may happen in a set of transient states.
struct Next {
    /// The events that may fire in it, each with the transient states after it.
    events: Vec<(usize, NodeId)>,
    /// Whether one of them fires in each of its states.
    is_total: bool,
}

/// The way through transient states that begins with an event.
pub(super) struct Stretch {
    /// The events that may fire on it, the first one included.
    pub(super) members: Vec<usize>,
    /// The others, each with some of the states in which it may fire; none if they are too many.
    pub(super) inside: Option<Vec<(usize, NodeId)>>,
    /// Whether it never gets stuck.
    pub(super) is_total: bool,
}

impl<'a> Stretches<'a> {
    pub(super) fn new(circuit: &Circuit, events: &'a [Event], guards: &'a [NodeId], passing: NodeId) -> Self {
        let inside = if passing == NodeId::FALSE { Vec::new() } else { (0..events.len()).collect() };
        let inside = inside.into_iter().filter(|&number: &usize| matches!(events[number].action, Action::Rule(_)));
        let known = |number: usize| [guards[number], events[number].fault].map(|node| circuit.known_values(node));
        let inside = inside.map(|number| (number, known(number))).collect();
        Self { events, guards, passing, inside, next: FxHashMap::default() }
    }

    /// The stretch that begins with an event in some states; `None` if no transient state comes after it.
    pub(super) fn from(&mut self, composer: &mut Composer<'_>, event: usize, states: NodeId) -> Option<Stretch> {
        if self.passing == NodeId::FALSE {
            return None;
        }
        // The places of the processes that take part, as a rule, and that queues are not full or empty.
        let known = composer.circuit.known_values(states);
        let mut tracked: Vec<u32> = known.keys().copied().collect();
        tracked.extend(composer.support(self.passing).iter());
        let first = self.after(composer, event, states, &tracked)?;
        let mut members: FxHashSet<usize> = FxHashSet::from_iter([event]);
        let mut known: FxHashSet<NodeId> = FxHashSet::from_iter([first]);
        let mut pending = vec![first];
        let mut is_total = true;
        let mut inside: Option<Vec<(usize, NodeId)>> = Some(Vec::new());
        while let Some(states) = pending.pop() {
            if self.next.len() > SETS || composer.circuit.is_spent() {
                members.extend(self.inside.iter().map(|(member, _)| member));
                is_total = false;
                inside = None;
                break;
            }
            if !self.next.contains_key(&states) {
                let next = self.successors(composer, states);
                self.next.insert(states, next);
            }
            is_total &= self.next[&states].is_total;
            for &(member, after) in &self.next[&states].events {
                members.insert(member);
                inside.as_mut().expect("they are not too many").push((member, states));
                if after != NodeId::FALSE && known.insert(after) {
                    pending.push(after);
                }
            }
        }
        let mut members: Vec<usize> = members.into_iter().collect();
        members.sort_unstable();
        if let Some(inside) = &mut inside {
            inside.sort_unstable();
            inside.dedup();
        }
        Some(Stretch { members, inside, is_total })
    }

    /// What may happen in a set of transient states.
    fn successors(&self, composer: &mut Composer<'_>, states: NodeId) -> Next {
        let mut next = Vec::new();
        let mut stuck = vec![states];
        let tracked: Vec<u32> =
            composer.support(states).iter().chain(composer.support(self.passing).iter()).copied().collect();
        let here = composer.circuit.known_values(states);
        // Most events are excluded by the place of their process.
        let both = |composer: &mut Composer<'_>, known: &KnownValues, condition: NodeId| {
            if exclude_each_other(&here, known) { NodeId::FALSE } else { composer.circuit.and([states, condition]) }
        };
        for &(event, [ref guard, ref fault]) in &self.inside {
            let enabled = both(composer, guard, self.guards[event]);
            let faults = both(composer, fault, self.events[event].fault);
            if enabled != NodeId::FALSE {
                let after = self.after(composer, event, enabled, &tracked).unwrap_or(NodeId::FALSE);
                next.push((event, after));
                stuck.push(composer.circuit.not(self.guards[event]));
            } else if faults != NodeId::FALSE {
                next.push((event, NodeId::FALSE));
            }
        }
        let stuck = composer.circuit.and(stuck);
        Next { events: next, is_total: composer.is_refuted(stuck) }
    }

    /// The transient states after an event, as a condition on some single slots; `None` if there are none.
    fn after(&self, composer: &mut Composer<'_>, event: usize, states: NodeId, tracked: &[u32]) -> Option<NodeId> {
        let known = composer.circuit.known_values(states);
        let reached = composer.reached(&self.events[event], &known);
        // Slots of multisets and large numbers are not known; what is passing may depend on them.
        let transient = composer.circuit.and([reached, self.passing]);
        if composer.is_refuted(transient) {
            return None;
        }
        // Little is kept, so that there are not too many sets.
        let known = composer.circuit.known_values(transient);
        let mut slots: Vec<u32> = known.keys().copied().filter(|slot| tracked.contains(slot)).collect();
        slots.sort_unstable();
        let parts: Vec<NodeId> =
            slots.into_iter().map(|slot| composer.circuit.slot_in(slot, known[&slot].iter())).collect();
        Some(composer.circuit.and(parts))
    }
}
