//! The condition under which an event takes a step, and the part of its functions relevant there.

use rustc_hash::FxHashMap;

use crate::circuit::{Circuit, KnownValues, NodeId};

/// The condition under which an event takes a step: its guard holds, and it neither fails nor is dropped. Its effect
/// elsewhere does not matter and must not distinguish events.
pub(super) struct Steps {
    /// The condition, as exactly as is cheap.
    pub(super) steps: NodeId,
    /// Whether it depends on few assignments; then it is exact.
    is_small: bool,
    /// The values it allows for single slots.
    known: KnownValues,
    /// Where an assumption drops the event, as far as that matters and `steps` does not imply it.
    pub(super) dropped: NodeId,
}

impl Steps {
    pub(super) fn new(circuit: &mut Circuit, guard: NodeId, fault: NodeId, dropped: NodeId) -> Self {
        let is_small = circuit.is_small(&[guard, fault, dropped]);
        if !is_small {
            let known = circuit.known_values(guard);
            let dropped = circuit.given(dropped, &known, &mut FxHashMap::default());
            let steps = if fault == guard { NodeId::FALSE } else { guard };
            return Self { steps, is_small, known, dropped };
        }
        // A dropped step does not happen.
        let (sound, kept) = (circuit.not(fault), circuit.not(dropped));
        let steps = circuit.and([guard, sound, kept]);
        Self { steps, is_small, known: circuit.known_values(steps), dropped: NodeId::FALSE }
    }

    /// The relevant part of a condition: where there is a step, and a slot does not already have a value.
    pub(super) fn relevant(&self, circuit: &mut Circuit, condition: NodeId, had: Option<(u32, Option<i64>)>) -> NodeId {
        let had = had.filter(|&(slot, _)| !circuit.is_wide(slot));
        let position = had.and_then(|(slot, value)| Some((slot, circuit.values(slot).binary_search(&value).ok()?)));
        let has_value = match position {
            Some((slot, position)) => circuit.slot_in(slot, [position]),
            None => NodeId::FALSE,
        };
        if self.is_small && circuit.is_small(&[self.steps, has_value, condition]) {
            let differs = circuit.not(has_value);
            let care = circuit.and([self.steps, differs]);
            let relevant = circuit.and([care, condition]);
            return if relevant == care && relevant != NodeId::FALSE { NodeId::TRUE } else { relevant };
        }
        let mut known = self.known.clone();
        if let Some((slot, position)) = position
            && !circuit.exclude(&mut known, slot, position)
        {
            return NodeId::FALSE;
        }
        circuit.given(condition, &known, &mut FxHashMap::default())
    }
}
