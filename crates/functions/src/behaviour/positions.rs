//! Whether the functions of a model distinguish the positions of a multiset. If they do, it is treated as fixed (see
//! `multisets`).

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_ir::{SlotId, TableIndex};

use super::{Behaviour, Claim};
use crate::circuit::Relabelling;
use crate::multisets::Multiset;

/// The multisets whose positions the functions of a model distinguish. Records the events and claims that involve only
/// some positions of the others.
pub(super) fn ordered_multisets(behaviour: &mut Behaviour) -> Vec<SlotId> {
    behaviour.positional = vec![false; behaviour.events.len() + behaviour.claims.len()];
    let entries: Vec<Multiset> = behaviour.multisets.iter().copied().collect();
    if entries.is_empty() {
        return Vec::new();
    }
    let is_start = |number: usize, behaviour: &Behaviour| behaviour.events[number].is_start();
    let events: FxHashSet<_> = (0..behaviour.events.len())
        .map(|number| (is_start(number, behaviour), behaviour.events[number].key()))
        .collect();
    let claims: FxHashSet<_> = behaviour.claims.iter().map(Claim::key).collect();
    let mut ordered = Vec::new();
    for entry in entries {
        let mut positional: Vec<usize> = Vec::new();
        let is_unordered = (1..entry.capacity).all(|position| {
            let mut relabelling = Relabelling::default();
            for column in 0..entry.stride {
                let (one, other) = (entry.slot(position - 1, column), entry.slot(position, column));
                relabelling.insert(one, other, None);
                relabelling.insert(other, one, None);
            }
            let mut known = FxHashMap::default();
            let events_stay = (0..behaviour.events.len()).all(|number| {
                let image = behaviour.event_image(number, &relabelling, &mut known, |key| events.contains(key));
                if image.as_ref().is_some_and(|image| *image != behaviour.events[number].key()) {
                    positional.push(number);
                }
                image.is_some()
            });
            events_stay
                && (0..behaviour.claims.len()).all(|number| {
                    let claim = behaviour.claims[number].clone();
                    let condition = behaviour.circuit.relabelled(claim.condition, &relabelling, &mut known);
                    let fault = behaviour.circuit.relabelled(claim.fault, &relabelling, &mut known);
                    if (condition, fault) != (Some(claim.condition), Some(claim.fault)) {
                        positional.push(behaviour.events.len() + number);
                    }
                    condition
                        .zip(fault)
                        .is_some_and(|(condition, fault)| claims.contains(&(claim.property, condition, fault)))
                })
        });
        if is_unordered {
            positional.into_iter().for_each(|number| behaviour.positional[number] = true);
        } else {
            ordered.push(SlotId::from_position(entry.first as usize));
        }
    }
    ordered
}
