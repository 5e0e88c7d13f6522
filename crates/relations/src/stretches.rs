//! Which instances may fire on the way through transient states that begins with an instance.
//!
//! An over-approximation: from what the guard of the first one says about single slots, and what it writes, follows
//! which others may fire next, and so on until the state cannot be transient. Where that tells too many sets of states
//! apart, only slots to which constants are written (the places of processes) are followed.

use std::rc::Rc;

use quotient_functions::{Circuit, Event, KnownValues, NodeId};
use quotient_ir::Action;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::composition::{Composer, exclude_each_other};
use crate::stable::control_slots;

/// The largest number of sets of states that are told apart.
const SETS: usize = 4096;
/// The largest number of rules that are tried in such sets.
const TRIES: usize = 50_000;

/// The stretches of a model.
pub(super) struct Stretches<'a> {
    events: &'a [Event],
    guards: &'a [NodeId],
    /// Which states are transient.
    passing: NodeId,
    /// The rules that may fire in transient states, each with the values that its guard allows, and those with which it
    /// goes wrong.
    inside: Vec<(usize, [KnownValues; 2])>,
    /// Where these may fire.
    index: Index,
    /// The slots that are followed, if not all are.
    followed: Option<FxHashSet<u32>>,
    /// For a set of transient states, the events that may fire in it, and the transient states after them.
    next: FxHashMap<NodeId, Next>,
    /// The rules that were tried in these sets.
    tries: usize,
    /// All rules that may fire in transient states.
    all: Rc<[usize]>,
}

/// Rules by the values of one slot with which they may fire.
#[derive(Default)]
struct Index {
    /// For each slot and each position of its values the rules, by their number among those inside.
    by_slot: FxHashMap<u32, Vec<Vec<usize>>>,
    others: Vec<usize>,
}

impl Index {
    fn new(circuit: &Circuit, inside: &[(usize, [KnownValues; 2])], events: &[Event]) -> Self {
        let mut index = Self::default();
        for (number, (event, [guard, fault])) in inside.iter().enumerate() {
            let goes_wrong = events[*event].fault != NodeId::FALSE;
            let share = |&slot: &u32| {
                let positions =
                    guard[&slot].iter().count() + fault.get(&slot).map_or(0, |values| values.iter().count());
                (positions * 1024 / circuit.values(slot).len().max(1), slot)
            };
            let slots = guard.keys().copied().filter(|slot| !goes_wrong || fault.contains_key(slot));
            let Some(slot) = slots.min_by_key(share) else {
                index.others.push(number);
                continue;
            };
            let size = circuit.values(slot).len();
            let lists = index.by_slot.entry(slot).or_insert_with(|| vec![Vec::new(); size]);
            let may_fire = |position: &usize| {
                guard[&slot].contains(*position)
                    || goes_wrong && fault.get(&slot).is_some_and(|values| values.contains(*position))
            };
            for position in (0..size).filter(may_fire) {
                lists[position].push(number);
            }
        }
        index
    }

    /// The rules that may fire, as far as one slot of each says so, in order.
    fn candidates(&self, known: &KnownValues) -> Vec<usize> {
        let mut found = self.others.clone();
        for (slot, lists) in &self.by_slot {
            match known.get(slot) {
                Some(values) => values.iter().for_each(|position| found.extend(&lists[position])),
                None => found.extend(lists.iter().flatten()),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
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
    pub(super) members: Rc<[usize]>,
    /// The others, each with some of the states in which it may fire; none if they are too many.
    pub(super) inside: Option<Vec<(usize, NodeId)>>,
    /// Whether it never gets stuck.
    pub(super) is_total: bool,
}

/// More sets of states would have to be told apart.
struct TooMany;

impl<'a> Stretches<'a> {
    pub(super) fn new(circuit: &Circuit, events: &'a [Event], guards: &'a [NodeId], passing: NodeId) -> Self {
        let inside = if passing == NodeId::FALSE { Vec::new() } else { (0..events.len()).collect() };
        let inside = inside.into_iter().filter(|&number: &usize| matches!(events[number].action, Action::Rule(_)));
        let known = |number: usize| [guards[number], events[number].fault].map(|node| circuit.known_values(node));
        let inside: Vec<(usize, [KnownValues; 2])> = inside.map(|number| (number, known(number))).collect();
        let index = Index::new(circuit, &inside, events);
        let all = inside.iter().map(|&(member, _)| member).collect();
        Self { events, guards, passing, inside, index, followed: None, next: FxHashMap::default(), tries: 0, all }
    }

    /// The stretch that begins with an event in some states; `None` if no transient state comes after it.
    pub(super) fn from(&mut self, composer: &mut Composer<'_>, event: usize, states: NodeId) -> Option<Stretch> {
        if self.passing == NodeId::FALSE {
            return None;
        }
        if let Ok(stretch) = self.follow(composer, event, states) {
            return stretch;
        }
        if self.followed.is_none() {
            let mut followed: FxHashSet<u32> = control_slots(composer, self.events).into_keys().collect();
            followed.extend(composer.support(self.passing).iter());
            self.followed = Some(followed);
            self.next.clear();
            self.tries = 0;
            if let Ok(stretch) = self.follow(composer, event, states) {
                return stretch;
            }
        }
        Some(Stretch { members: Rc::clone(&self.all), inside: None, is_total: false })
    }

    fn follow(
        &mut self,
        composer: &mut Composer<'_>,
        event: usize,
        states: NodeId,
    ) -> Result<Option<Stretch>, TooMany> {
        // The places of the processes that take part, as a rule, and that queues are not full or empty.
        let known = composer.circuit.known_values(states);
        let mut tracked: Vec<u32> = known.keys().copied().collect();
        tracked.extend(composer.support(self.passing).iter());
        let Some(first) = self.after(composer, event, states, &tracked) else { return Ok(None) };
        let mut members: FxHashSet<usize> = FxHashSet::from_iter([event]);
        let mut known: FxHashSet<NodeId> = FxHashSet::from_iter([first]);
        let mut pending = vec![first];
        let mut is_total = true;
        let mut inside: Vec<(usize, NodeId)> = Vec::new();
        while let Some(states) = pending.pop() {
            if self.next.len() > SETS || self.tries > TRIES || composer.circuit.is_spent() {
                return Err(TooMany);
            }
            if !self.next.contains_key(&states) {
                let next = self.successors(composer, states);
                self.next.insert(states, next);
            }
            is_total &= self.next[&states].is_total;
            for &(member, after) in &self.next[&states].events {
                members.insert(member);
                inside.push((member, states));
                if after != NodeId::FALSE && known.insert(after) {
                    pending.push(after);
                }
            }
        }
        let mut members: Vec<usize> = members.into_iter().collect();
        members.sort_unstable();
        inside.sort_unstable();
        inside.dedup();
        Ok(Some(Stretch { members: members.into(), inside: Some(inside), is_total }))
    }

    /// What may happen in a set of transient states.
    fn successors(&mut self, composer: &mut Composer<'_>, states: NodeId) -> Next {
        let mut next = Vec::new();
        let mut stuck = vec![states];
        let tracked: Vec<u32> =
            composer.support(states).iter().chain(composer.support(self.passing).iter()).copied().collect();
        let here = composer.circuit.known_values(states);
        // Most events are excluded by the place of their process.
        let both = |composer: &mut Composer<'_>, known: &KnownValues, condition: NodeId| {
            if exclude_each_other(&here, known) { NodeId::FALSE } else { composer.circuit.and([states, condition]) }
        };
        let candidates = self.index.candidates(&here);
        composer.circuit.charge(candidates.len());
        self.tries += candidates.len();
        for number in candidates {
            let (event, [guard, fault]) = &self.inside[number];
            let event = *event;
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
        let is_followed = |slot: &u32| self.followed.as_ref().is_none_or(|followed| followed.contains(slot));
        let mut slots: Vec<u32> = known.keys().copied().filter(|slot| tracked.contains(slot)).collect();
        slots.retain(is_followed);
        slots.sort_unstable();
        let parts: Vec<NodeId> =
            slots.into_iter().map(|slot| composer.circuit.slot_in(slot, known[&slot].iter())).collect();
        Some(composer.circuit.and(parts))
    }
}
