//! Groups that change the elements of multisets. States keep these sorted, so the group does not act on states by
//! permuting literals alone: the image must be sorted again.
//!
//! Together with all permutations of positions, however, it does: two sorted states are in one orbit of the group if
//! and only if they are in one orbit of the larger group that includes these permutations. So the representative is
//! computed with the larger group, and then sorted. Each sorted state of an orbit represents the same number of
//! arrangements of its elements; the size of the larger orbit is divided by this number.

use num_bigint::BigUint;

use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Layout, MultisetSlots, SlotId, TableIndex};

use crate::points::Field;
use quotient_symmetry::{Literals, StateMap};

/// The multisets that a group changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Multisets {
    entries: Vec<Multiset>,
}

#[derive(Clone, Debug)]
struct Multiset {
    slots: MultisetSlots,
    /// The fields of each position; the first says whether it holds an element.
    positions: Vec<Vec<Field>>,
}

impl Multisets {
    /// The multisets that some maps change.
    pub(crate) fn new(layout: &Layout, maps: &[StateMap]) -> Self {
        let mut changed: Vec<MultisetSlots> = maps.iter().flat_map(|map| map.multisets().iter().copied()).collect();
        changed.sort_unstable_by_key(|multiset| multiset.first);
        changed.dedup();
        let entries = changed
            .into_iter()
            .map(|slots| {
                let field = |slot: usize| Field::of_slot(&layout.slots[SlotId::from_position(slot)]);
                let first = slots.first.position();
                let positions = (0..slots.capacity)
                    .map(|position| (0..slots.stride).map(|at| field(first + position * slots.stride + at)).collect());
                Multiset { slots, positions: positions.collect() }
            })
            .collect();
        Self { entries }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The exchanges of neighbouring positions.
    pub(crate) fn exchanges(&self) -> Vec<StateMap> {
        let mut exchanges = Vec::new();
        for Multiset { slots, .. } in &self.entries {
            for position in 1..slots.capacity {
                let slot = |position: usize, at: usize| {
                    SlotId::from_position(slots.first.position() + position * slots.stride + at)
                };
                let pairs = (0..slots.stride).map(|at| (slot(position - 1, at), slot(position, at)));
                exchanges.push(StateMap::exchange_of_slots(pairs));
            }
        }
        exchanges
    }

    /// The number of permutations of positions.
    pub(crate) fn order(&self) -> BigUint {
        self.entries.iter().flat_map(|entry| 1..=entry.slots.capacity).map(BigUint::from).product()
    }

    /// Sorts the elements, as states keep them.
    pub(crate) fn sort(&self, state: &mut [u64]) {
        for entry in &self.entries {
            let mut elements = entry.elements(state);
            elements.sort_unstable();
            for (number, position) in entry.positions.iter().enumerate() {
                match elements.get(number) {
                    Some(element) => position.iter().zip(element).for_each(|(field, &code)| field.write(state, code)),
                    // The code of undefined, and of no element, is zero.
                    None => position.iter().for_each(|field| field.write(state, 0)),
                }
            }
        }
    }

    /// The number of arrangements of the elements of a state.
    pub(crate) fn arrangements(&self, state: &[u64]) -> BigUint {
        let factorial = |number: usize| (1..=number).map(BigUint::from).product::<BigUint>();
        let mut all = BigUint::from(1u32);
        for entry in &self.entries {
            let mut elements = entry.elements(state);
            elements.sort_unstable();
            let absent = entry.slots.capacity - elements.len();
            let alike = elements.chunk_by(|one, other| one == other).map(|run| factorial(run.len()));
            all *= factorial(entry.slots.capacity) / (alike.product::<BigUint>() * factorial(absent));
        }
        all
    }

    /// A permutation of literals with the same effect as another one, except on the order of elements: each position of
    /// a multiset is mapped to the same position.
    pub(crate) fn straightened(&self, literals: &Literals, element: &SparsePermutation) -> SparsePermutation {
        let multiset_of = |slot: SlotId| {
            self.entries.iter().map(|entry| &entry.slots).find(|slots| {
                let offset = slot.position().wrapping_sub(slots.first.position());
                offset < slots.capacity * slots.stride
            })
        };
        let mut moves: Vec<(Point, Point)> = Vec::new();
        for (from, to) in element.moves() {
            if multiset_of(literals.slot_of(from)).is_none() {
                moves.push((from, to));
            }
        }
        for Multiset { slots, .. } in &self.entries {
            for column in 0..slots.stride {
                let slot = |position: usize| slots.first.position() + position * slots.stride + column;
                let pattern = &literals.slots()[SlotId::from_position(slot(0))];
                let points = if pattern.wide { 1 } else { pattern.values.len() as Point };
                for point in 0..points {
                    let image = element.image(pattern.first + point);
                    let image_slot = literals.slot_of(image);
                    let target = multiset_of(image_slot).expect("elements of multisets stay in multisets");
                    let offset = image_slot.position() - target.first.position();
                    let value = image - literals.slots()[image_slot].first;
                    for position in 0..slots.capacity {
                        let to = target.first.position() + position * target.stride + offset % target.stride;
                        let own = literals.slots()[SlotId::from_position(slot(position))].first + point;
                        moves.push((own, literals.slots()[SlotId::from_position(to)].first + value));
                    }
                }
            }
        }
        moves.retain(|(from, to)| from != to);
        moves.sort_unstable();
        SparsePermutation::from_moves(moves).expect("positions go to positions")
    }
}

impl Multiset {
    fn elements(&self, state: &[u64]) -> Vec<Vec<u64>> {
        let codes = |position: &Vec<Field>| position.iter().map(|field| field.read(state)).collect();
        self.positions.iter().map(codes).filter(|element: &Vec<u64>| element[0] != 0).collect()
    }
}
