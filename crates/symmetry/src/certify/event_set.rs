//! Certification of a part of a model: that a permutation maps some events, such as the instances of one rule, to
//! events among them, whatever it does to the rest of the model and to its initial states.

use rustc_hash::FxHashMap;

use quotient_functions::{Behaviour, Event, EventKey, Relabelling};
use quotient_groups::SparsePermutation;

use super::exhaust::SlotPermutation;
use super::{Certifier, Rejection};
use crate::literals::StateMap;
use crate::relabelling::relabelling;
use quotient_ir::TableIndex;

/// Events considered together, with distinct effects.
#[derive(Clone, Debug)]
pub(crate) struct EventSet {
    /// The events.
    pub(crate) events: Vec<Event>,
    /// Their positions among the events of the model, if they are among them; others are compared by their normal forms
    /// alone.
    pub(crate) numbers: Option<Vec<u32>>,
    keys: FxHashMap<EventKey, u32>,
}

impl EventSet {
    /// Instances of rules, with their numbers among the events of the model. Of several with the same effect, one is
    /// kept.
    pub(crate) fn of_instances(events: impl IntoIterator<Item = (u32, Event)>) -> Self {
        let mut part = Self { events: Vec::new(), numbers: Some(Vec::new()), keys: FxHashMap::default() };
        for (number, event) in events {
            part.push(event, Some(number));
        }
        part
    }

    /// Conditions that are not instances of a rule.
    pub(crate) fn of_conditions(events: impl IntoIterator<Item = Event>) -> Self {
        let mut part = Self { events: Vec::new(), numbers: None, keys: FxHashMap::default() };
        for event in events {
            part.push(event, None);
        }
        part
    }

    fn push(&mut self, event: Event, number: Option<u32>) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.keys.entry(event.key()) {
            entry.insert(self.events.len() as u32);
            self.events.push(event);
            if let (Some(numbers), Some(number)) = (&mut self.numbers, number) {
                numbers.push(number);
            }
        }
    }

    /// Whether one of the events has this effect.
    pub(crate) fn contains(&self, key: &EventKey) -> bool {
        self.keys.contains_key(key)
    }

    /// Some of the events.
    pub(crate) fn select(&self, chosen: impl IntoIterator<Item = usize>) -> Self {
        match &self.numbers {
            Some(numbers) => Self::of_instances(chosen.into_iter().map(|at| (numbers[at], self.events[at].clone()))),
            None => Self::of_conditions(chosen.into_iter().map(|at| self.events[at].clone())),
        }
    }
}

impl Certifier<'_> {
    /// The functions of the model.
    pub(crate) fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    /// The same, so that functions can be added.
    pub(crate) fn behaviour_mut(&mut self) -> &mut Behaviour {
        &mut self.behaviour
    }

    /// The action of a permutation on slots and values.
    ///
    /// # Errors
    /// If it does not act on states or moves a fixed variable.
    pub(crate) fn relabelling(&self, generator: &SparsePermutation) -> Result<(StateMap, Relabelling), Rejection> {
        let map = self.literals.action(self.layout, generator)?;
        for slot_move in map.moves() {
            if self.fixed[slot_move.from.position()] {
                return Err(Rejection::MovesFixed(self.layout.slots[slot_move.from].name.clone()));
            }
        }
        let relabelling = relabelling(&self.behaviour, &map, None);
        Ok((map, relabelling))
    }

    /// Proves, by both arguments, that a permutation of literals maps events to events among them, and returns the
    /// image of each; of several with the same effect, the first.
    ///
    /// # Errors
    /// If it does not, or cannot be proved to.
    pub(crate) fn check_part(&mut self, generator: &SparsePermutation, part: &EventSet) -> Result<Vec<u32>, Rejection> {
        let (map, relabelling) = self.relabelling(generator)?;
        self.survey()?;
        let mut known = FxHashMap::default();
        let mut images = Vec::with_capacity(part.events.len());
        for event in &part.events {
            self.budget.spend(1 + event.writes.len() as u64)?;
            let key = event.relabelled(&mut self.behaviour.circuit, &relabelling, &mut known);
            self.require_sound()?;
            let Some(&image) = key.as_ref().and_then(|key| part.keys.get(key)) else {
                return Err(Rejection::Event { action: event.action, arguments: event.arguments.clone() });
            };
            images.push(image);
        }
        if let Some(numbers) = &part.numbers {
            let pairs = numbers.iter().zip(&images).map(|(&number, &image)| (number, numbers[image as usize]));
            self.exhaustion.compare_instances(&SlotPermutation::new(&map), pairs.collect(), false)?;
        }
        Ok(images)
    }
}
