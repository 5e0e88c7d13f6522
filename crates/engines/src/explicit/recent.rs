//! States that were met a short while ago. Successors of states that are expanded one after the
//! other are often the same, and a small table that stays in the cache tells so sooner than the
//! store. Where they seldom are, looking is not worth it: then the table is not asked for a while.

use crate::explicit::store::{Hash, copy};

/// Bytes of the table, about: it should leave room in the second cache.
const BYTES: usize = 1 << 18;
/// Lookups after which it is decided whether it was worth it.
const TRIAL: u32 = 1 << 12;
/// Lookups that are left out if it was not.
const REST: usize = 1 << 16;

/// A table of states, each of which makes way for the next one that falls to its place.
#[derive(Debug)]
pub(crate) struct Recent {
    words: usize,
    /// One less than the number of places, which is a power of two.
    mask: usize,
    states: Vec<u64>,
    /// Of how many lookups of a trial it must know the state, to be worth it.
    worth: u32,
    /// Lookups of the trial, and how many of them were successful.
    lookups: u32,
    hits: u32,
    /// Lookups that are still left out.
    paused_for: usize,
}

impl Recent {
    /// No states of so many words. It is worth looking if so many of sixteen lookups are successful.
    pub(crate) fn new(words: usize, worth: u32) -> Self {
        let places = 1usize << (BYTES / (8 * words)).max(1).ilog2();
        let states = vec![u64::MAX; places * words];
        Self { words, mask: places - 1, states, worth: TRIAL / 16 * worth, lookups: 0, hits: 0, paused_for: 0 }
    }

    /// Whether so many lookups are left out.
    #[inline]
    pub(crate) fn is_paused(&mut self, lookups: usize) -> bool {
        let is_paused = self.paused_for > 0;
        self.paused_for = self.paused_for.saturating_sub(lookups);
        is_paused
    }

    /// Whether it is known that a state was met before; it is met now. It comes first in a slice of words.
    // It is asked for every successor, and small.
    #[inline(always)]
    pub(crate) fn meets(&mut self, record: &[u64], hash: Hash) -> bool {
        self.lookups += 1;
        if self.lookups == TRIAL {
            self.judge();
        }
        let place = &mut self.states[hash.low(self.mask) * self.words..][..self.words];
        if place.iter().zip(record).all(|(left, right)| left == right) {
            // Empty places look like this one.
            self.hits += 1;
            return record[0] != u64::MAX;
        }
        copy(place, &record[..self.words]);
        false
    }

    /// Rests if too few lookups were successful.
    #[cold]
    fn judge(&mut self) {
        if self.hits < self.worth {
            self.paused_for = REST;
        }
        (self.lookups, self.hits) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_does_not_help_rests_and_tries_again() {
        let mut recent = Recent::new(1, 3);
        let mut meets = |state: u64| !recent.is_paused(1) && recent.meets(&[state], Hash::of(&[state]));
        let rounds = 10 * (u64::from(TRIAL) + REST as u64);
        let mut helpful = 0;
        for number in 0..rounds {
            assert!(!meets(number), "each is new");
        }
        for number in 0..rounds {
            helpful += u64::from(meets(number / 2));
        }
        assert!(helpful > rounds / 10);
    }

    #[test]
    fn only_what_was_met_is_met_again() {
        for words in [1, 2, 3, 40, 100_000] {
            let mut recent = Recent::new(words, 3);
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
