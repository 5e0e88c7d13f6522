//! Dense sets of states that all threads read and fill: each state belongs to one of them, by its hash, and each has a lock
//! of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use quotient_search::words::Hash;
use quotient_states::dense::Dense;
use quotient_states::store::{Full, Probe, Sighting, Store};

/// The binary logarithm of the number of sets: enough that threads rarely wait for each other.
const SET_BITS: u32 = 6;
/// The binary logarithm of the number of parts of the table of a set.
const PART_BITS: u32 = 2;

/// The sets.
#[derive(Debug)]
pub(super) struct SharedDense {
    words: usize,
    sets: Vec<Mutex<Set>>,
}

#[derive(Debug)]
struct Set {
    dense: Dense,
    states: u64,
}

impl SharedDense {
    /// Empty sets of states of a number of words, whose last one has at most these bits, as far as is known.
    pub(super) fn new(words: usize, last_word: u64) -> Result<Self, Full> {
        let last_bits = 64 - last_word.leading_zeros();
        let set = |_| Ok(Mutex::new(Set { dense: Dense::new(words, last_bits, PART_BITS)?, states: 0 }));
        Ok(Self { words, sets: (0..1 << SET_BITS).map(set).collect::<Result<_, Full>>()? })
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        self.sets.iter().map(|set| lock(set).dense.bytes()).sum()
    }

    /// Whether a state is there.
    pub(super) fn contains(&self, state: &[u64], hash: Hash) -> bool {
        matches!(lock(&self.sets[hash.shard(SET_BITS)]).dense.probe(state), Probe::Stored(_))
    }

    /// Adds a state unless it is there, in at most so many bytes more. Returns whether it was added, and by how many bytes
    /// the sets have grown (modulo 2^64: they may also shrink a little).
    ///
    /// # Errors
    /// If there is no room.
    pub(super) fn add(&self, state: &[u64], hash: Hash, room: u64) -> Result<(bool, u64), Full> {
        let mut set = lock(&self.sets[hash.shard(SET_BITS)]);
        let Probe::Vacant(position) = set.dense.probe(state) else { return Ok((false, 0)) };
        let before = set.dense.bytes();
        set.dense.insert(state, position, before.saturating_add(room))?;
        set.states += 1;
        Ok((true, set.dense.bytes().wrapping_sub(before)))
    }

    /// Looks up several states, each of which comes first in a slice of words: those of a set together.
    pub(super) fn recognise<'r>(
        &self,
        hashes: &[Hash],
        records: impl Iterator<Item = &'r [u64]>,
        sightings: &mut Vec<Sighting>,
    ) {
        let records: Vec<&[u64]> = records.collect();
        let mut order: Vec<(usize, usize)> =
            hashes.iter().map(|hash| hash.shard(SET_BITS)).zip(0..records.len()).collect();
        order.sort_unstable();
        sightings.clear();
        sightings.resize(records.len(), Sighting::Unknown);
        let mut found = Vec::new();
        for of_set in order.chunk_by(|left, right| left.0 == right.0) {
            let set = lock(&self.sets[of_set[0].0]);
            set.dense.recognise(of_set.iter().map(|&(_, position)| records[position]), &mut found);
            for (&(_, position), &sighting) in of_set.iter().zip(&found) {
                if sighting == Sighting::Stored {
                    sightings[position] = sighting;
                }
            }
        }
    }

    /// The sets as stores in which states can be looked up.
    pub(super) fn into_stores(self) -> Vec<Store> {
        let words = self.words;
        let sets = self.sets.into_iter().map(|set| set.into_inner().unwrap_or_else(PoisonError::into_inner));
        sets.map(|Set { dense, states }| Store::of_dense(words, dense, states)).collect()
    }
}

fn lock(set: &Mutex<Set>) -> MutexGuard<'_, Set> {
    // A thread that panics ends the search; no other thread uses what it left.
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    /// Threads add overlapping sets of states; each state is added once.
    #[test]
    fn each_state_is_added_by_one_thread() {
        for words in [1, 2, 5] {
            let state = |number: u64| -> Vec<u64> { (0..words).map(|word| number / (word + 1)).collect() };
            let shared = SharedDense::new(words as usize, u64::MAX).expect("there is memory");
            let empty = shared.bytes();
            let (added, grown) = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4u64)
                    .map(|thread| {
                        let shared = &shared;
                        scope.spawn(move || {
                            (0..20_000u64).fold((0, 0u64), |(count, bytes), number| {
                                let state = state((number * 7 + thread * 13) % 20_000);
                                let (is_new, more) =
                                    shared.add(&state, Hash::of(&state), u64::MAX).expect("there is room");
                                (count + u64::from(is_new), bytes.wrapping_add(more))
                            })
                        })
                    })
                    .collect();
                let results = threads.into_iter().map(|thread| thread.join().expect("no panic"));
                results.fold((0, 0u64), |sum, next| (sum.0 + next.0, sum.1.wrapping_add(next.1)))
            });
            assert_eq!(added, 20_000);
            assert_eq!(shared.bytes(), empty.wrapping_add(grown));
            let states: Vec<Vec<u64>> = (0..40_000).map(state).collect();
            let hashes: Vec<Hash> = states.iter().map(|state| Hash::of(state)).collect();
            let mut sightings = Vec::new();
            shared.recognise(&hashes, states.iter().map(Vec::as_slice), &mut sightings);
            for number in 0..40_000 {
                assert_eq!(sightings[number] == Sighting::Stored, number < 20_000);
                assert_eq!(shared.contains(&states[number], hashes[number]), number < 20_000);
            }
            let mut visited = 0;
            for store in shared.into_stores() {
                let mut here = 0;
                let _ = store.dense().expect("it is dense").visit(|_| {
                    here += 1;
                    ControlFlow::Continue(())
                });
                assert_eq!(store.len(), here);
                visited += here;
            }
            assert_eq!(visited, 20_000);
        }
    }

    #[test]
    fn the_limit_is_kept() {
        let shared = SharedDense::new(1, u64::MAX).expect("there is memory");
        let full = (0..).find_map(|number| shared.add(&[number], Hash::of(&[number]), 1 << 14).err());
        assert_eq!(full, Some(Full::Memory));
    }
}
