//! States that were met a short while ago. Successors of states that are expanded one after the
//! other are often the same, and a small table that stays in the cache tells so sooner than the
//! store.

use crate::store::Hash;

/// Bytes of the table, about: half of the second cache of most processors.
const BYTES: usize = 1 << 19;

/// A table of states, each of which makes way for the next one that falls to its place.
#[derive(Debug)]
pub(crate) struct Recent {
    words: usize,
    /// One less than the number of places, which is a power of two.
    mask: usize,
    states: Vec<u64>,
}

impl Recent {
    /// No states of so many words.
    pub(crate) fn new(words: usize) -> Self {
        let places = 1usize << (BYTES / (8 * words)).max(1).ilog2();
        Self { words, mask: places - 1, states: vec![u64::MAX; places * words] }
    }

    /// Whether a state was met and not forgotten; it is met now.
    #[inline]
    pub(crate) fn meets(&mut self, state: &[u64], hash: Hash) -> bool {
        let place = &mut self.states[hash.low(self.mask) * self.words..][..self.words];
        if place.iter().zip(state).all(|(left, right)| left == right) {
            // Empty places look like this one.
            return state[0] != u64::MAX;
        }
        place.copy_from_slice(state);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_met_is_met_again() {
        for words in [1, 2, 3, 40, 100_000] {
            let mut recent = Recent::new(words);
            for value in [0, 1, 2, u64::MAX, 0, 1, 77] {
                let state = vec![value; words];
                let hash = Hash::of(&state);
                let mut other = state.clone();
                other[words - 1] = value.wrapping_add(5);
                recent.meets(&other, Hash::of(&other));
                // Whatever falls to the place of another state is told from it.
                assert!(!recent.meets(&state, Hash::of(&other)) || other == state);
                recent.meets(&state, hash);
                assert_eq!(recent.meets(&state, hash), value != u64::MAX);
            }
        }
    }
}
