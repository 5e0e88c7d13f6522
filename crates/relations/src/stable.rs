//! Which values slots hold in stored states. Most places inside atomic sequences are passed through only; steps that
//! would begin there never do, and need not be related to anything.
//!
//! An over-approximation, slot by slot, of slots to which only constants are written. Each step adds what a slot may
//! hold where its way ends.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use quotient_functions::{Event, Holds, KnownValues, NodeId, Written};
use quotient_ir::Action;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::composition::Composer;

/// What is known about a step.
pub(super) struct Way<'s> {
    /// Its first event, and states in which it may fire.
    pub(super) first: (usize, NodeId),
    /// The others, each with states in which it may fire; none if they may be any.
    pub(super) inside: Option<&'s [(usize, NodeId)]>,
}

/// For an event and states in which it fires, what is known of the stored states after it, if there are any.
type Ends = FxHashMap<(usize, NodeId), Option<KnownValues>>;

/// For slots of which that is known, the values that they hold in stored states.
#[derive(Debug, Default)]
pub(super) struct StableValues {
    held: FxHashMap<u32, FxHashSet<usize>>,
}

impl StableValues {
    /// The same, if slots hold only these values in stored states.
    pub(super) fn within(mut self, composer: &Composer<'_>, stored: &[Holds]) -> Self {
        for (slot, holds) in (0..).zip(stored) {
            if composer.circuit.is_wide(slot) || holds.is_wide() {
                continue;
            }
            let values = composer.circuit.values(slot);
            let positions = holds.values().into_iter().filter_map(|value| values.binary_search(&value).ok());
            let positions: FxHashSet<usize> = positions.collect();
            match self.held.entry(slot) {
                Entry::Occupied(mut held) => held.get_mut().retain(|position| positions.contains(position)),
                Entry::Vacant(vacant) => {
                    vacant.insert(positions);
                }
            }
        }
        self
    }

    /// The values for steps with these ways. Nothing is known if a first state may be transient.
    pub(super) fn new(
        composer: &mut Composer<'_>,
        events: &[Event],
        passing: NodeId,
        stable: NodeId,
        ways: &[Way<'_>],
    ) -> Self {
        if passing == NodeId::FALSE {
            return Self::default();
        }
        let mut held = control_slots(composer, events);
        for start in events.iter().filter(|event| event.is_start()) {
            let first = composer.reached(start, &KnownValues::default());
            if composer.circuit.and([first, passing]) != NodeId::FALSE {
                return Self::default();
            }
            let first = composer.circuit.known_values(first);
            held.retain(|slot, positions| match first.get(slot) {
                Some(values) => {
                    positions.extend(values.iter());
                    true
                }
                None => false,
            });
        }
        let mut values = Self { held };
        let mut ends = Ends::default();
        let anything: Rc<[(u32, usize)]> = values.written(composer, events.iter()).into();
        let gains: Vec<Rc<[(u32, usize)]>> = ways
            .iter()
            .map(|way| match way.inside {
                Some(inside) => values.gains(composer, events, (stable, &mut ends), (way.first, inside)).into(),
                None => Rc::clone(&anything),
            })
            .collect();
        let guards: Vec<KnownValues> = ways.iter().map(|way| composer.circuit.known_values(way.first.1)).collect();
        let mut is_used = vec![false; gains.len()];
        // What is reached does not depend on the order.
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for next in 0..gains.len() {
                if is_used[next] || !values.allow(&guards[next]) {
                    continue;
                }
                is_used[next] = true;
                has_changed = true;
                for (slot, position) in &*gains[next] {
                    values.held.get_mut(slot).expect("gains are of these slots").insert(*position);
                }
            }
        }
        values
    }

    /// Whether a condition on single slots may hold in a stored state.
    pub(super) fn allow(&self, known: &KnownValues) -> bool {
        known.iter().all(|(slot, values)| {
            self.held.get(slot).is_none_or(|held| values.iter().any(|position| held.contains(&position)))
        })
    }

    /// What events write to the slots.
    fn written<'e>(&self, composer: &Composer<'_>, events: impl Iterator<Item = &'e Event>) -> Vec<(u32, usize)> {
        let mut all: FxHashSet<(u32, usize)> = FxHashSet::default();
        for write in events.flat_map(|event| &event.writes) {
            if let (Written::Cases(cases), true) = (&write.written, self.held.contains_key(&write.slot)) {
                let values = composer.circuit.values(write.slot);
                let positions = cases.iter().filter_map(|(value, _)| values.binary_search(value).ok());
                all.extend(positions.map(|position| (write.slot, position)));
            }
        }
        all.into_iter().collect()
    }

    /// What slots may hold where a way ends, other than what they held at its beginning.
    fn gains(
        &self,
        composer: &mut Composer<'_>,
        events: &[Event],
        (stable, ends): (NodeId, &mut Ends),
        (first, inside): ((usize, NodeId), &[(usize, NodeId)]),
    ) -> Vec<(u32, usize)> {
        let way = || std::iter::once(first).chain(inside.iter().copied());
        let mut written: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (slot, position) in self.written(composer, way().map(|(event, _)| &events[event])) {
            written.entry(slot).or_default().push(position);
        }
        let mut all: FxHashSet<(u32, usize)> = FxHashSet::default();
        for (event, states) in way() {
            // Ways meet, and are the same from there on.
            let end = ends.entry((event, states)).or_insert_with(|| {
                let both = composer.circuit.and([states, events[event].guard]);
                let known = composer.circuit.known_values(both);
                let after = composer.reached(&events[event], &known);
                let end = composer.circuit.and([after, stable]);
                (end != NodeId::FALSE).then(|| composer.circuit.known_values(end))
            });
            let Some(end) = end else { continue };
            for (&slot, positions) in &written {
                match end.get(&slot) {
                    Some(values) => all.extend(values.iter().map(|position| (slot, position))),
                    None => all.extend(positions.iter().map(|&position| (slot, position))),
                }
            }
        }
        all.into_iter().collect()
    }
}

/// The slots to which rules write nothing but constants, without values so far.
pub(super) fn control_slots(composer: &Composer<'_>, events: &[Event]) -> FxHashMap<u32, FxHashSet<usize>> {
    let mut slots: FxHashMap<u32, bool> = FxHashMap::default();
    for event in events.iter().filter(|event| matches!(event.action, Action::Rule(_))) {
        for write in &event.writes {
            let is_constant = match &write.written {
                Written::Cases(cases) => matches!(cases[..], [(_, NodeId::TRUE)]),
                Written::Number { .. } => false,
            };
            *slots.entry(write.slot).or_insert(true) &= is_constant;
        }
    }
    let is_plain = |slot: u32| !composer.circuit.is_wide(slot) && !composer.is_in_multiset(slot);
    let slots = slots.into_iter().filter(|&(slot, is_constant)| is_constant && is_plain(slot));
    slots.map(|(slot, _)| (slot, FxHashSet::default())).collect()
}
