//! The effect of an instance as a decision tree over the values of slots, and the comparison of two such trees up to a
//! permutation of literals.

use quotient_ir::{PropertyId, SlotId};
use rustc_hash::FxHashMap;

use super::exhaust::SlotPermutation;
use crate::literals::Literals;

/// The effect of a run, as far as a symmetry must preserve it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The guard is false, or an assumption dropped the step as if it were.
    Disabled,
    /// A run-time error.
    Fault,
    /// A step.
    Next {
        /// Its writes, in increasing order of the slots.
        writes: Vec<(SlotId, Option<i64>)>,
        /// The cover statements it reached.
        covered: Vec<PropertyId>,
    },
    /// A property's value.
    Truth(bool),
}

/// A decision tree: each node has a slot that was read and a branch for each value it can hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    nodes: Vec<Decision>,
    effects: Vec<Effect>,
}

#[derive(Clone, Debug)]
enum Decision {
    /// The next node for each position of a value of the slot.
    Read { slot: SlotId, branches: Box<[u32]> },
    /// A leaf, with its effect.
    Done(u32),
}

/// No node yet.
const OPEN: u32 = u32::MAX;

impl Decisions {
    /// The number of leaves.
    pub(super) fn size(&self) -> usize {
        self.effects.len()
    }

    /// Adds a leaf at the end of a path, which must be new. Paths must come in lexicographic order; paths with the same
    /// values must continue with the same slot.
    pub(super) fn add(&mut self, path: &[(SlotId, usize)], effect: Effect, values: impl Fn(SlotId) -> usize) {
        // The node that the last branch taken must lead to.
        let mut entry: Option<(usize, usize)> = None;
        let mut next = if self.nodes.is_empty() { OPEN } else { 0 };
        for &(slot, position) in path {
            if next == OPEN {
                next = self.push(Decision::Read { slot, branches: vec![OPEN; values(slot)].into_boxed_slice() }, entry);
            }
            let Decision::Read { branches, .. } = &self.nodes[next as usize] else {
                unreachable!("a run that ended here read nothing more")
            };
            entry = Some((next as usize, position));
            next = branches[position];
        }
        let effect_number = self.effects.len() as u32;
        self.effects.push(effect);
        self.push(Decision::Done(effect_number), entry);
    }

    fn push(&mut self, node: Decision, entry: Option<(usize, usize)>) -> u32 {
        let number = self.nodes.len() as u32;
        self.nodes.push(node);
        if let Some((parent, position)) = entry
            && let Decision::Read { branches, .. } = &mut self.nodes[parent]
        {
            branches[position] = number;
        }
        number
    }
}

/// Compares decision trees under one permutation.
pub(super) struct Agreement<'a> {
    literals: &'a Literals,
    permutation: &'a SlotPermutation<'a>,
    /// For slots whose values move: the position of each value's image.
    positions: FxHashMap<SlotId, Option<Box<[u32]>>>,
    /// The values that slots are known to hold, as positions.
    assignment: FxHashMap<SlotId, usize>,
}

impl<'a> Agreement<'a> {
    pub(super) fn new(literals: &'a Literals, permutation: &'a SlotPermutation<'a>) -> Self {
        Self { literals, permutation, positions: FxHashMap::default(), assignment: FxHashMap::default() }
    }

    /// Whether `image` has the same effect on every permuted state as `own` on the original one. `None` if the budget
    /// does not suffice to decide, or wide slots are involved.
    pub(super) fn holds(&mut self, own: &Decisions, image: &Decisions, budget: &mut u64) -> Option<bool> {
        self.assignment.clear();
        self.walk(own, 0, image, budget)
    }

    /// Visits every leaf of the first tree. The depth is at most the number of slots an instance reads.
    fn walk(&mut self, own: &Decisions, at: u32, image: &Decisions, budget: &mut u64) -> Option<bool> {
        *budget = budget.checked_sub(1)?;
        match &own.nodes[at as usize] {
            Decision::Done(effect) => self.walk_image(&own.effects[*effect as usize], image, 0, budget),
            Decision::Read { slot, branches } => {
                for (position, &next) in branches.iter().enumerate() {
                    self.assignment.insert(*slot, position);
                    if !self.walk(own, next, image, budget)? {
                        return Some(false);
                    }
                }
                self.assignment.remove(slot);
                Some(true)
            }
        }
    }

    /// Visits every leaf of the second tree that the assignment allows.
    fn walk_image(&mut self, effect: &Effect, image: &Decisions, at: u32, budget: &mut u64) -> Option<bool> {
        *budget = budget.checked_sub(1)?;
        match &image.nodes[at as usize] {
            Decision::Done(other) => self.same_effect(effect, &image.effects[*other as usize], budget),
            Decision::Read { slot, branches } => {
                let origin = self.permutation.origin(*slot);
                if let Some(&position) = self.assignment.get(&origin) {
                    let next = branches[self.image_position(origin, position)?];
                    return self.walk_image(effect, image, next, budget);
                }
                for position in 0..self.literals.slots()[origin].values.len() {
                    self.assignment.insert(origin, position);
                    let next = branches[self.image_position(origin, position)?];
                    if !self.walk_image(effect, image, next, budget)? {
                        return Some(false);
                    }
                }
                self.assignment.remove(&origin);
                Some(true)
            }
        }
    }

    /// The position of the image of the value at a position.
    fn image_position(&mut self, slot: SlotId, position: usize) -> Option<usize> {
        let (literals, permutation) = (self.literals, self.permutation);
        let positions = self.positions.entry(slot).or_insert_with(|| {
            let slot_move = permutation.slot_move(slot).filter(|slot_move| slot_move.values.is_some())?;
            let image_values = &literals.slots()[slot_move.to].values;
            let position_of = |value: &Option<i64>| {
                let found = image_values.binary_search(&slot_move.value(*value));
                found.expect("the action maps onto the values") as u32
            };
            Some(literals.slots()[slot].values.iter().map(position_of).collect())
        });
        match positions {
            None => Some(position),
            Some(positions) => positions.get(position).map(|&position| position as usize),
        }
    }

    /// Whether two effects are the same for all states of the assignment.
    fn same_effect(&self, effect: &Effect, image: &Effect, budget: &mut u64) -> Option<bool> {
        let (Effect::Next { writes, covered }, Effect::Next { writes: image_writes, covered: image_covered }) =
            (effect, image)
        else {
            return Some(effect == image);
        };
        *budget = budget.checked_sub((writes.len() + image_writes.len()) as u64)?;
        if covered != image_covered {
            return Some(false);
        }
        let mut common = 0;
        for &(slot, value) in writes {
            let (to, image_value) = self.permutation.literal(slot, value);
            match image_writes.binary_search_by_key(&to, |&(written, _)| written) {
                Ok(position) if image_writes[position].1 == image_value => common += 1,
                Ok(_) => return Some(false),
                Err(_) => match self.holds_value(slot, value)? {
                    true => {}
                    false => return Some(false),
                },
            }
        }
        if common < image_writes.len() {
            for &(to, image_value) in image_writes {
                let slot = self.permutation.origin(to);
                if writes.binary_search_by_key(&slot, |&(written, _)| written).is_err() {
                    let entry = &self.literals.slots()[slot];
                    let is_image = |value: &Option<i64>| self.permutation.literal(slot, *value).1 == image_value;
                    let value = match entry.wide {
                        true => return None,
                        false => entry.values.iter().find(|value| is_image(value)),
                    };
                    match value {
                        Some(&value) if self.holds_value(slot, value)? => {}
                        _ => return Some(false),
                    }
                }
            }
        }
        Some(true)
    }

    /// Whether a slot holds a value in all states of the assignment.
    fn holds_value(&self, slot: SlotId, value: Option<i64>) -> Option<bool> {
        let entry = &self.literals.slots()[slot];
        if entry.wide {
            return None;
        }
        Some(match self.assignment.get(&slot) {
            Some(&position) => entry.values[position] == value,
            None => entry.values[..] == [value],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literals::StateMap;
    use quotient_groups::SparsePermutation;
    use quotient_ir::{Layout, Source, TableIndex};

    /// Three slots with the values 0, 1, 2.
    fn literals() -> Literals {
        Literals::new((0..3).map(|_| (vec![Some(0), Some(1), Some(2)], false)))
    }

    fn slot(position: usize) -> SlotId {
        SlotId::from_position(position)
    }

    fn step(writes: &[(usize, i64)]) -> Effect {
        let writes = writes.iter().map(|&(position, value)| (slot(position), Some(value))).collect();
        Effect::Next { writes, covered: Vec::new() }
    }

    /// A tree that reads the given slots in their order.
    fn decisions(reads: &[usize], effect: impl Fn(&[usize]) -> Effect) -> Decisions {
        let mut decisions = Decisions::default();
        for number in 0..3usize.pow(reads.len() as u32) {
            let digits: Vec<usize> =
                (0..reads.len()).rev().map(|digit| number / 3usize.pow(digit as u32) % 3).collect();
            let path: Vec<(SlotId, usize)> =
                reads.iter().zip(&digits).map(|(&position, &digit)| (slot(position), digit)).collect();
            decisions.add(&path, effect(&digits), |_| 3);
        }
        decisions
    }

    /// Exchanges slots 0 and 1 and adds one to every value along the way.
    fn exchange(literals: &Literals) -> StateMap {
        let source = Source::new(
            "test.m",
            "var a: 0..2; b: 0..2; c: 0..2; startstate a := 0 end; rule true ==> a := 0 end;".to_owned(),
        );
        let loaded = quotient_murphi::LANGUAGE.load(source, &Default::default());
        let layout = Layout::new(&loaded.expect("a model").model).expect("a layout");
        let moves = (0..3).flat_map(|value| [(value, 3 + (value + 1) % 3), (3 + (value + 1) % 3, value)]).collect();
        literals.action(&layout, &SparsePermutation::from_moves(moves).expect("a permutation")).expect("an action")
    }

    fn check(own: &Decisions, image: &Decisions, budget: u64, expected: Option<bool>) {
        let literals = literals();
        let map = exchange(&literals);
        let permutation = SlotPermutation::new(&map);
        let mut agreement = Agreement::new(&literals, &permutation);
        assert_eq!(agreement.holds(own, image, &mut budget.clone()), expected);
    }

    #[test]
    fn images_agree_whatever_is_read_besides() {
        let add = |value: usize| (value + 1) % 3;
        let own = decisions(&[0], |digits| if digits[0] == 1 { Effect::Fault } else { step(&[(0, 2)]) });
        let same = |value: usize| if value == add(1) { Effect::Fault } else { step(&[(1, 0)]) };
        check(&own, &decisions(&[1], |digits| same(digits[0])), 1000, Some(true));
        check(&own, &decisions(&[2, 1], |digits| same(digits[1])), 1000, Some(true));
        check(
            &decisions(&[2, 0], |digits| if digits[1] == 1 { Effect::Fault } else { step(&[(0, 2)]) }),
            &decisions(&[1, 0], |digits| same(digits[0])),
            1000,
            Some(true),
        );
        check(&own, &own, 1000, Some(false));
        check(&own, &decisions(&[2], |digits| same(digits[0])), 1000, Some(false));
        check(&own, &decisions(&[1], |digits| same(digits[0])), 3, None);
    }

    #[test]
    fn writing_the_value_that_is_there_is_not_writing() {
        // Slot 0 holds 2 where it matters, so slot 1 of the image holds 0.
        let own = decisions(&[0], |digits| if digits[0] == 2 { step(&[(0, 2)]) } else { Effect::Disabled });
        let silent = decisions(&[1], |digits| if digits[0] == 0 { step(&[]) } else { Effect::Disabled });
        check(&own, &silent, 1000, Some(true));
        check(&silent, &own, 1000, Some(true));
        let loud = decisions(&[1], |digits| if digits[0] == 0 { step(&[(1, 0)]) } else { Effect::Disabled });
        let mute = decisions(&[0], |digits| if digits[0] == 2 { step(&[]) } else { Effect::Disabled });
        check(&mute, &loud, 1000, Some(true));
        // Slot 2 may hold anything.
        let third = decisions(&[0], |digits| if digits[0] == 2 { step(&[(2, 1)]) } else { Effect::Disabled });
        check(&third, &silent, 1000, Some(false));
        check(
            &mute,
            &decisions(&[1], |digits| if digits[0] == 0 { step(&[(2, 1)]) } else { Effect::Disabled }),
            1000,
            Some(false),
        );
    }
}
