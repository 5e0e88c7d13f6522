//! States in few bytes each, without loss: a set that can tell whether it has a state, and list its states, but knows
//! neither their numbers nor their order.
//!
//! States of one or two words are numbers of a `table`. Wider ones are pairs of numbers of their parts (`tree`), and
//! these pairs are numbers of a table.

pub mod ancestry;
mod table;
mod tree;

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use crate::numbers::{Full, NO_PARENT, Probe, Sighting};
use table::{ANYWHERE, Key, LEAST_BITS, Place, Sight, Table, ones};
pub use tree::Numbers;
use tree::Tree;

/// The number of bits of the numbers of parts at first, and by how many they become longer.
const FIRST_BITS: u32 = 20;
const MORE_BITS: u32 = 4;
/// How many places are looked at together: what is read of them should fit into the first-level cache.
const AT_A_TIME: usize = 64;

/// A set of states.
#[derive(Debug)]
pub struct Dense {
    words: usize,
    folding: Folding,
    table: Table,
    part_bits: u32,
    /// States that are not of the form that was claimed.
    odd: FxHashSet<Box<[u64]>>,
    /// How often positions became invalid because of another table.
    widenings: u64,
}

/// A state as the numbers of its two parts.
#[derive(Clone, Copy, Debug)]
pub struct Short(pub(crate) u64);

/// How a state becomes a number.
#[derive(Debug)]
enum Folding {
    /// Its first word, and the second, if there is one.
    Words {
        /// The bits that its last word may have.
        mask: u64,
    },
    /// The numbers of its two parts, of so many bits.
    Tree { tree: Tree, bits: [u32; 2] },
}

impl Dense {
    /// An empty set of states of a number of words, whose last one has a number of bits.
    pub fn new(words: usize, last_bits: u32, part_bits: u32) -> Result<Self, Full> {
        let (folding, table) = match words {
            1 => (Folding::Words { mask: ones(last_bits) }, Table::new(last_bits.clamp(LEAST_BITS, 64), 0, part_bits)?),
            2 => (Folding::Words { mask: ones(last_bits) }, Table::new(64, last_bits, part_bits)?),
            _ => {
                (Folding::Tree { tree: Tree::new(words), bits: [FIRST_BITS; 2] }, Table::new(LEAST_BITS, 0, part_bits)?)
            }
        };
        Ok(Self { words, folding, table, part_bits, odd: FxHashSet::default(), widenings: 0 })
    }

    /// Bytes in use.
    #[inline]
    pub fn bytes(&self) -> u64 {
        let odd = (8 * self.words as u64 + 48) * self.odd.len() as u64;
        let parts = match &self.folding {
            Folding::Words { .. } => 0,
            Folding::Tree { tree, .. } => tree.bytes(),
        };
        self.table.bytes() + parts + odd
    }

    /// Looks for a state.
    #[inline]
    pub fn probe(&self, state: &[u64]) -> Probe {
        let sight = match self.key(state, &mut Numbers::default()) {
            Some(key) => self.table.look(&self.table.place(key)),
            None if self.odd.contains(state) => Sight::Stored,
            None => Sight::Vacant(ANYWHERE),
        };
        match sight {
            Sight::Stored => Probe::Stored(NO_PARENT),
            Sight::Vacant(position) => Probe::Vacant(position as usize),
        }
    }

    /// Whether a position from [`Dense::recognise`] is still vacant, if the table has not grown since.
    #[inline]
    pub(crate) fn is_vacant(&self, position: u32) -> bool {
        self.table.is_vacant(position)
    }

    /// How often positions have become invalid.
    #[inline]
    pub(crate) fn growths(&self) -> u64 {
        self.widenings + self.table.growths()
    }

    /// The number that stands for a state; none if it has none, or a part of it is not known.
    #[inline]
    fn key(&self, state: &[u64], memory: &mut Numbers) -> Option<Key> {
        match &self.folding {
            Folding::Words { mask } => {
                let key = Key { main: state[0], rest: if self.words == 2 { state[1] } else { 0 } };
                (state[self.words - 1] & !mask == 0).then_some(key)
            }
            Folding::Tree { tree, bits } => {
                let [left, right] = tree.find(state, memory)?;
                Some(Key { main: u64::from(left) | u64::from(right) << bits[0], rest: 0 })
            }
        }
    }

    /// The number that stands for a state with two parts.
    #[inline]
    fn key_of(&self, [left, right]: [u32; 2]) -> Option<Key> {
        let Folding::Tree { bits, .. } = &self.folding else { return None };
        Some(Key { main: u64::from(left) | u64::from(right) << bits[0], rest: 0 })
    }

    /// Looks up several states, each of which comes first in a slice of words. Each pass waits for memory once, not once
    /// for each state.
    pub fn recognise<'r>(&self, mut records: impl Iterator<Item = &'r [u64]>, sightings: &mut Vec<Sighting>) {
        let mut memory = Numbers::default();
        let mut places: Vec<Option<Place>> = Vec::with_capacity(AT_A_TIME);
        sightings.clear();
        loop {
            places.clear();
            let some = records.by_ref().take(AT_A_TIME);
            places.extend(some.map(|record| Some(self.table.place(self.key(&record[..self.words], &mut memory)?))));
            if places.is_empty() {
                return;
            }
            // A loop of its own: the less there is to do for each, the more of them wait at the same time.
            let touched = places.iter().flatten().fold(0, |sum, place| sum ^ self.table.touch(place));
            std::hint::black_box(touched);
            sightings.extend(places.iter().map(|place| match place.as_ref().map(|place| self.table.look(place)) {
                Some(Sight::Stored) => Sighting::Stored,
                Some(Sight::Vacant(position)) => Sighting::Vacant(position),
                None => Sighting::Unknown,
            }));
        }
    }

    /// Adds a state that is not there, at the position that [`Dense::probe`] has just returned. The set takes at most so
    /// many bytes. Returns its short form, if it has one.
    ///
    /// # Errors
    /// If there is no room.
    #[inline]
    pub fn insert(&mut self, state: &[u64], position: usize, limit: u64) -> Result<Option<Short>, Full> {
        let mut position = u32::try_from(position).unwrap_or(ANYWHERE);
        let (key, short) = match &mut self.folding {
            Folding::Words { .. } => (self.key(state, &mut Numbers::default()), None),
            Folding::Tree { tree, bits } => {
                let root = tree.add(state)?;
                if (0..2).any(|part| u64::from(root[part]) > ones(bits[part])) {
                    self.widen(root, limit)?;
                    position = ANYWHERE;
                }
                (self.key_of(root), Some(Short(u64::from(root[0]) | u64::from(root[1]) << 32)))
            }
        };
        let Some(key) = key else {
            self.odd.insert(state.into());
            return Ok(None);
        };
        let others = self.bytes() - self.table.bytes();
        self.table.insert(key, position, limit.saturating_sub(others))?;
        Ok(short)
    }

    /// Whether states have short forms.
    #[inline]
    pub(crate) fn has_short_forms(&self) -> bool {
        matches!(self.folding, Folding::Tree { .. })
    }

    /// The state with a short form, given the one that was asked for before.
    #[inline]
    pub(crate) fn state<'m>(&self, Short(root): Short, memory: &'m mut Numbers) -> &'m [u64] {
        match &self.folding {
            Folding::Words { .. } => unreachable!("its words are its only form"),
            Folding::Tree { tree, .. } => tree.state([root as u32, (root >> 32) as u32], memory),
        }
    }

    /// Makes the numbers of parts longer, so that there is room for some.
    #[cold]
    fn widen(&mut self, root: [u32; 2], limit: u64) -> Result<(), Full> {
        let Folding::Tree { bits, .. } = &mut self.folding else { return Ok(()) };
        let before = bits[0];
        for (bits, number) in bits.iter_mut().zip(root) {
            while u64::from(number) > ones(*bits) {
                *bits = (*bits + MORE_BITS).min(32);
            }
        }
        let [left, right] = *bits;
        let mut table = Table::new((left + right).clamp(LEAST_BITS, 64), 0, self.part_bits)?;
        let room = limit.saturating_sub(self.bytes());
        let mut result = Ok(());
        let _ = self.table.visit(|key| {
            let main = key.main & ones(before) | key.main >> before << left;
            result = table.insert(Key { main, rest: 0 }, ANYWHERE, room);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.widenings += self.table.growths() + 1;
        self.table = table;
        result
    }

    /// Visits all states, in no particular order. A break ends that.
    pub fn visit(&self, mut visit: impl FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut memory = Numbers::default();
        self.table.visit(|key| match &self.folding {
            Folding::Words { .. } => visit(&[key.main, key.rest][..self.words]),
            Folding::Tree { tree, bits } => {
                let root = [(key.main & ones(bits[0])) as u32, (key.main >> bits[0]) as u32];
                visit(tree.state(root, &mut memory))
            }
        })?;
        self.odd.iter().try_for_each(|state| visit(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(dense: &Dense, state: &[u64]) -> bool {
        matches!(dense.probe(state), Probe::Stored(_))
    }

    fn add(dense: &mut Dense, state: &[u64]) {
        let Probe::Vacant(position) = dense.probe(state) else { panic!("{state:?} is new") };
        dense.insert(state, position, u64::MAX).expect("there is room");
    }

    #[test]
    fn states_of_all_widths_are_kept() {
        for (words, last_bits) in [(1, 20), (1, 50), (1, 64), (2, 1), (2, 40), (2, 64), (3, 5), (10, 64), (33, 1)] {
            let state = |number: u64| -> Vec<u64> {
                let word = |word: usize| match word {
                    word if word + 1 == words => number & ones(last_bits),
                    word if word % 2 == 0 => number << 20,
                    _ => number % 7,
                };
                let mut state: Vec<u64> = (0..words).map(word).collect();
                if words > 1 {
                    state[0] ^= number;
                }
                state
            };
            let mut dense = Dense::new(words, last_bits, 2).expect("there is memory");
            for number in 0..20_000 {
                assert!(!has(&dense, &state(number)), "{words} {last_bits} {number}");
                add(&mut dense, &state(number));
            }
            // A state that is not of the form that was claimed.
            let odd = vec![u64::MAX; words];
            let has_odd = has(&dense, &odd);
            if !has_odd {
                add(&mut dense, &odd);
            }
            assert!(has(&dense, &odd));
            let states: Vec<Vec<u64>> = (0..40_000).map(state).collect();
            let mut sightings = Vec::new();
            dense.recognise(states.iter().map(Vec::as_slice), &mut sightings);
            for (number, state) in states.iter().enumerate() {
                assert_eq!(has(&dense, state), number < 20_000, "{words} {last_bits} {number}");
                assert_eq!(sightings[number] == Sighting::Stored, number < 20_000);
            }
            let mut all = FxHashSet::default();
            let _ = dense.visit(|state| {
                assert!(all.insert(state.to_vec()));
                ControlFlow::Continue(())
            });
            assert_eq!(all, states[..20_000].iter().cloned().chain([odd]).collect());
        }
    }

    #[test]
    fn numbers_of_parts_become_longer() {
        let mut dense = Dense::new(3, 64, 2).expect("there is memory");
        if let Folding::Tree { bits, .. } = &mut dense.folding {
            *bits = [8, 8];
        }
        let last = 5000;
        for number in 0..last {
            add(&mut dense, &[number, 0, 1]);
        }
        assert!(matches!(dense.folding, Folding::Tree { bits: [16, 8], .. }));
        for number in (0..last + 10).step_by(7) {
            assert_eq!(has(&dense, &[number, 0, 1]), number < last);
        }
    }
}
