//! Recently seen states. States expanded consecutively often have common successors, and a small table that stays in
//! the cache recognises them faster than the store. If that is rare, lookups are not worthwhile and the table is
//! disabled for a while.

use quotient_search::words::{Hash, copy};

/// The approximate size of the table in bytes: it should leave room in the second-level cache.
const BYTES: usize = 1 << 18;
/// The number of lookups after which their worth is judged.
const TRIAL: u32 = 1 << 12;
/// The number of lookups skipped if they were not worthwhile.
const REST: usize = 1 << 16;

/// A table of states; each is replaced by the next one that maps to its entry.
#[derive(Debug)]
pub struct Recent {
    words: usize,
    /// One less than the number of entries, which is a power of two.
    mask: usize,
    states: Vec<u64>,
    /// The number of hits in a trial that makes lookups worthwhile.
    worth: u32,
    /// The lookups of the trial, and the number of hits.
    lookups: u32,
    hits: u32,
    /// The number of lookups still to skip.
    paused_for: usize,
}

impl Recent {
    /// An empty table for states of a number of words. `worth` is the required number of hits in sixteen lookups.
    pub fn new(words: usize, worth: u32) -> Self {
        Self::of_bytes(words, worth, BYTES)
    }

    /// The same, of another size.
    pub fn of_bytes(words: usize, worth: u32, bytes: usize) -> Self {
        let places = 1usize << (bytes / (8 * words)).max(1).ilog2();
        let states = vec![u64::MAX; places * words];
        Self { words, mask: places - 1, states, worth: TRIAL / 16 * worth, lookups: 0, hits: 0, paused_for: 0 }
    }

    /// Whether this many lookups are skipped.
    #[inline]
    pub fn is_paused(&mut self, lookups: usize) -> bool {
        let is_paused = self.paused_for > 0;
        self.paused_for = self.paused_for.saturating_sub(lookups);
        is_paused
    }

    /// Loads the entries that looking up some states reads, all at a time: worthwhile if the table is large.
    #[inline]
    pub fn prefetch(&self, hashes: &[Hash]) {
        let touch = |sum, hash: &Hash| sum ^ self.states[hash.low(self.mask) * self.words];
        std::hint::black_box(hashes.iter().fold(0, touch));
    }

    /// Whether a state, which comes first in a slice of words, is known to have been seen before; it counts as seen
    /// from now on. Called for every successor, and small.
    #[inline(always)]
    pub fn meets(&mut self, record: &[u64], hash: Hash) -> bool {
        self.lookups += 1;
        if self.lookups == TRIAL {
            self.judge();
        }
        let place = &mut self.states[hash.low(self.mask) * self.words..][..self.words];
        if place.iter().zip(record).all(|(left, right)| left == right) {
            // Empty entries are filled with ones, so a state that begins with all ones is never reported.
            self.hits += 1;
            return record[0] != u64::MAX;
        }
        copy(place, &record[..self.words]);
        false
    }

    /// Pauses if there were too few hits.
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
                // States that map to the same entry are distinguished.
                assert!(!recent.meets(&state, Hash::of(&other)) || other == state);
                recent.meets(&state, hash);
                assert_eq!(recent.meets(&state, hash), value != u64::MAX);
            }
        }
    }
}
