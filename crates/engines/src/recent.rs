//! States that were met a short while ago. Successors of states that are expanded one after the
//! other are often the same, and a small table that stays in the cache tells so sooner than the
//! store. Where they seldom are, looking is not worth it: then the table rests for a while.

use crate::store::Hash;

/// Bytes of the table, about: it should leave room in the second cache.
const BYTES: usize = 1 << 18;
/// Lookups after which it is decided whether it was worth it.
const TRIAL: u32 = 1 << 12;
/// Lookups that are left out if it was not.
const REST: u32 = 1 << 16;

/// A table of states, each of which makes way for the next one that falls to its place.
#[derive(Debug)]
pub(crate) struct Recent {
    words: usize,
    /// One less than the number of places, which is a power of two.
    mask: usize,
    states: Vec<u64>,
    /// Lookups of the trial, and how many of them were successful.
    lookups: u32,
    hits: u32,
    /// Lookups that are still left out.
    resting: u32,
}

impl Recent {
    /// No states of so many words.
    pub(crate) fn new(words: usize) -> Self {
        let places = 1usize << (BYTES / (8 * words)).max(1).ilog2();
        let states = vec![u64::MAX; places * words];
        Self { words, mask: places - 1, states, lookups: 0, hits: 0, resting: 0 }
    }

    /// Whether it is known that a state was met before; it is met now.
    #[inline]
    pub(crate) fn meets(&mut self, state: &[u64], hash: Hash) -> bool {
        if self.resting > 0 {
            self.resting -= 1;
            return false;
        }
        self.lookups += 1;
        if self.lookups == TRIAL {
            self.judge();
        }
        let place = &mut self.states[hash.low(self.mask) * self.words..][..self.words];
        if place.iter().zip(state).all(|(left, right)| left == right) {
            // Empty places look like this one.
            self.hits += 1;
            return state[0] != u64::MAX;
        }
        place.copy_from_slice(state);
        false
    }

    /// Rests if fewer than three of sixteen lookups were successful: one that is saves the work of several.
    #[cold]
    fn judge(&mut self) {
        if self.hits < TRIAL * 3 / 16 {
            self.resting = REST;
        }
        (self.lookups, self.hits) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_does_not_help_rests_and_tries_again() {
        let mut recent = Recent::new(1);
        let mut meets = |state: u64| recent.meets(&[state], Hash::of(&[state]));
        let mut helpful = 0;
        for number in 0..u64::from(10 * (TRIAL + REST)) {
            assert!(!meets(number), "each is new");
        }
        for number in 0..u64::from(10 * (TRIAL + REST)) {
            helpful += u32::from(meets(number / 2));
        }
        assert!(helpful > TRIAL + REST);
    }

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
