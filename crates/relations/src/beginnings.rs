//! Steps that are only taken in the first state.
//!
//! Let a slot hold a value at first that nothing writes, and let every step from the first state change the slot. Then
//! the slot holds the value in no other state, and a step that needs it is taken in the first one only: it meets none of
//! the steps of processes that do not run yet (`init` of Promela, say, as long as it starts them).

use quotient_functions::{Event, KnownValues, NodeId, Written};
use quotient_ir::Action;

use crate::composition::Composer;

/// The guards of events; those that only hold in the first state say so of every slot.
pub(super) fn with_beginnings(composer: &mut Composer<'_>, events: &[Event], guards: &[NodeId]) -> Vec<NodeId> {
    let mut all = guards.to_vec();
    let Some(first) = first_state(composer, events) else { return all };
    let mut slots: Vec<u32> = first.keys().copied().collect();
    slots.sort_unstable();
    let parts: Vec<NodeId> = slots.iter().map(|slot| composer.circuit.slot_in(*slot, first[slot].iter())).collect();
    let possible: Vec<usize> = (0..events.len())
        .filter(|&number| matches!(events[number].action, Action::Rule(_)))
        .filter(|&number| composer.given(guards[number], &first) != NodeId::FALSE)
        .collect();
    let is_only_first = |composer: &mut Composer<'_>, slot: u32| {
        let Some(position) = first[&slot].iter().next() else { return false };
        let value = composer.circuit.values(slot)[position];
        let rules = events.iter().filter(|event| matches!(event.action, Action::Rule(_)));
        let mut writes = rules.flat_map(|event| &event.writes).filter(|write| write.slot == slot);
        let is_written = writes.any(|write| match &write.written {
            Written::Cases(cases) => cases.iter().any(|&(other, _)| other == value),
            Written::Number { .. } => true,
        });
        !is_written && possible.iter().all(|&number| composer.leaves(&events[number], slot, &first))
    };
    let only: Vec<bool> = slots.iter().map(|&slot| is_only_first(composer, slot)).collect();
    for (guard, event) in all.iter_mut().zip(events) {
        let known = composer.circuit.known_values(*guard);
        let is_first = slots.iter().zip(&only).any(|(slot, &only)| only && known.get(slot) == Some(&first[slot]));
        if is_first && matches!(event.action, Action::Rule(_)) {
            *guard = composer.circuit.and(parts.iter().copied().chain([*guard]));
        }
    }
    all
}

/// The values of slots in the first state, if there is one such state.
fn first_state(composer: &mut Composer<'_>, events: &[Event]) -> Option<KnownValues> {
    let mut starts = events.iter().filter(|event| event.is_start());
    let start = starts.next()?;
    if starts.next().is_some() || start.guard != NodeId::TRUE {
        return None;
    }
    let mut first = KnownValues::default();
    for write in &start.writes {
        if composer.circuit.is_wide(write.slot) || composer.is_in_multiset(write.slot) {
            continue;
        }
        let Written::Cases(cases) = &write.written else { continue };
        let [(value, NodeId::TRUE)] = cases[..] else { continue };
        let position = composer.circuit.values(write.slot).binary_search(&value).ok()?;
        let holds = composer.circuit.slot_in(write.slot, [position]);
        first.extend(composer.circuit.known_values(holds));
    }
    Some(first)
}
