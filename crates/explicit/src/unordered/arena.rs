//! The words and parents of the states that one thread stores, readable by all threads while it stores more.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bytemuck::allocation::try_zeroed_slice_box;

use quotient_states::pages::{give_back, prefer_large};
use quotient_states::store::{Full, StateNumber, Store};

/// The approximate number of words of a chunk, so that it has large pages; where memory is limited, a small share of it.
const CHUNK_WORDS: u64 = 1 << 20;
const CHUNK_SHARE: u64 = 1 << 8;
/// The least number of states of a chunk: there is a place for each chunk from the beginning.
const LEAST_STATES: u64 = 1 << 12;

/// States in the order in which a thread has stored them. What a number refers to is visible to those who learned the
/// number from an entry of the table, or after a meeting of all threads.
#[derive(Debug)]
pub(super) struct Arena {
    words: usize,
    /// The binary logarithm of the number of states of a chunk.
    chunk_shift: u32,
    chunks: Vec<OnceLock<Chunk>>,
    /// The number of chunks that were forgotten.
    forgotten: usize,
    /// The greatest number of chunks, with those.
    most_chunks: usize,
}

#[derive(Debug)]
struct Chunk {
    states: Box<[AtomicU64]>,
    parents: Box<[AtomicU32]>,
}

impl Arena {
    /// An empty arena with places for a number of states, or as many as fit into memory. It is one of a number of arenas.
    pub(super) fn new(words: usize, most_states: u64, max_memory: Option<u64>, arenas: u64) -> Self {
        let chunk_words = max_memory.map_or(CHUNK_WORDS, |bytes| CHUNK_WORDS.min(bytes / (CHUNK_SHARE * arenas)));
        let chunk_shift = (chunk_words / words.max(1) as u64).max(LEAST_STATES).ilog2();
        let chunk_bytes = (8 * words as u64 + 4) << chunk_shift;
        let fitting = max_memory.map_or(u64::MAX, |bytes| bytes / chunk_bytes + 1);
        let most_chunks = (most_states >> chunk_shift) as usize;
        let chunks = fitting.min(most_chunks as u64) as usize;
        let chunks = (0..chunks).map(|_| OnceLock::new()).collect();
        Self { words, chunk_shift, chunks, forgotten: 0, most_chunks }
    }

    /// Forgets the states with lower numbers, as far as memory can be freed. Returns the number of bytes.
    pub(super) fn forget_before(&mut self, number: u64) -> u64 {
        let end = (number >> self.chunk_shift) as usize;
        let freed = self.chunks[self.forgotten..end].iter_mut().filter_map(OnceLock::take).map(|chunk| {
            let Chunk { states, parents } = chunk;
            give_back(states.into_vec().into_iter().map(AtomicU64::into_inner).collect::<Vec<u64>>());
            give_back(parents.into_vec().into_iter().map(AtomicU32::into_inner).collect::<Vec<u32>>());
        });
        let freed = freed.count();
        self.forgotten = end;
        // There is room for as many as before.
        let places = (self.chunks.len() + freed).min(self.most_chunks);
        self.chunks.resize_with(places, OnceLock::new);
        self.bytes((freed as u64) << self.chunk_shift)
    }

    /// The bytes that this many states take.
    pub(super) fn bytes(&self, states: u64) -> u64 {
        states.div_ceil(1 << self.chunk_shift) * ((8 * self.words as u64 + 4) << self.chunk_shift)
    }

    /// Whether storing a state with a number takes another chunk.
    #[inline]
    pub(super) fn begins_chunk(&self, number: u64) -> bool {
        number & ((1 << self.chunk_shift) - 1) == 0
    }

    /// Writes the state with a number. Only the thread that stores states here calls it, and for each number from zero on
    /// in turn; a state that no other thread has learned about may be overwritten.
    #[inline]
    pub(super) fn write(&self, number: u64, state: &[u64], parent: StateNumber) -> Result<(), Full> {
        let place = self.chunks.get((number >> self.chunk_shift) as usize).ok_or(Full::Numbers)?;
        let chunk = match place.get() {
            Some(chunk) => chunk,
            None => {
                let states = 1 << self.chunk_shift;
                let mut chunk = Chunk {
                    states: try_zeroed_slice_box(states * self.words).map_err(|()| Full::System)?,
                    parents: try_zeroed_slice_box(states).map_err(|()| Full::System)?,
                };
                prefer_large(&mut chunk.states);
                prefer_large(&mut chunk.parents);
                place.get_or_init(|| chunk)
            }
        };
        let position = self.offset(number);
        let words = &chunk.states[position * self.words..][..self.words];
        for (word, &value) in words.iter().zip(state) {
            word.store(value, Ordering::Relaxed);
        }
        chunk.parents[position].store(parent, Ordering::Relaxed);
        Ok(())
    }

    #[inline]
    fn state(&self, number: u64) -> &[AtomicU64] {
        let chunk = self.chunks[(number >> self.chunk_shift) as usize].get().expect("it was stored");
        &chunk.states[self.offset(number) * self.words..][..self.words]
    }

    /// Whether the words of a stored state are these.
    #[inline]
    pub(super) fn is(&self, number: u64, state: &[u64]) -> bool {
        self.state(number).iter().zip(state).all(|(stored, &word)| stored.load(Ordering::Relaxed) == word)
    }

    /// Appends the words of a stored state.
    #[inline]
    pub(super) fn read(&self, number: u64, target: &mut Vec<u64>) {
        target.extend(self.state(number).iter().map(|word| word.load(Ordering::Relaxed)));
    }

    /// The same states in a store in which none can be looked up.
    pub(super) fn into_store(self, states: u64) -> Store {
        let Self { words, chunk_shift, chunks, .. } = self;
        let full = states >> chunk_shift;
        let chunks = chunks.into_iter().filter_map(OnceLock::into_inner);
        let (words_of, parents) = (0u64..)
            .zip(chunks)
            .map(|(number, Chunk { states: words_of, parents })| {
                let length =
                    if number < full { 1 << chunk_shift } else { (states & ((1 << chunk_shift) - 1)) as usize };
                let mut words_of: Vec<u64> = words_of.into_vec().into_iter().map(AtomicU64::into_inner).collect();
                let mut parents: Vec<u32> = parents.into_vec().into_iter().map(AtomicU32::into_inner).collect();
                words_of.truncate(length * words);
                parents.truncate(length);
                (words_of, parents)
            })
            .unzip();
        Store::of_chunks(words, chunk_shift, words_of, parents, states)
    }

    #[inline]
    fn offset(&self, number: u64) -> usize {
        number as usize & ((1 << self.chunk_shift) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_of_an_arena_has_its_states_and_parents() {
        for (words, count) in [(1, 1 << 21), (2, 70_000), (40, 20_000), (3, 0)] {
            let arena = Arena::new(words, 1 << 22, None, 1);
            for number in 0..count {
                let state: Vec<u64> = (0..words as u64).map(|word| number * 100 + word).collect();
                arena.write(number, &state, number as u32 / 3).expect("there is room");
                assert!(arena.is(number, &state));
            }
            let store = arena.into_store(count);
            assert_eq!(store.len(), count);
            for number in 0..count {
                assert_eq!(store.state(number as u32)[0], number * 100);
                assert_eq!(store.state(number as u32)[words - 1], number * 100 + words as u64 - 1);
                assert_eq!(store.parent(number as u32), Some(number as u32 / 3));
            }
        }
    }

    #[test]
    fn an_arena_that_forgets_has_room_for_more() {
        let mut arena = Arena::new(2, 1 << 20, Some(1 << 20), 1);
        let mut kept = 0;
        for number in 0..1 << 20 {
            if arena.write(number, &[number, 7], 0).is_err() {
                assert!(arena.bytes(number - kept) > 1 << 20);
                kept = number - 5000;
                assert!(arena.forget_before(kept) > 0);
                arena.write(number, &[number, 7], 0).expect("there is room");
            }
            assert!(arena.is(kept, &[kept, 7]) && arena.is(number, &[number, 7]));
        }
        assert_eq!(arena.write(1 << 20, &[1, 7], 0), Err(Full::Numbers));
    }

    #[test]
    fn an_arena_is_full_when_it_has_no_more_numbers_or_memory() {
        let arena = Arena::new(1, 1 << 21, None, 1);
        assert_eq!(arena.write(1 << 21, &[1], 0), Err(Full::Numbers));
        let arena = Arena::new(1, 1 << 30, Some(1 << 20), 4);
        assert!(arena.write(1 << 16, &[1], 0).is_ok());
        assert_eq!(arena.write(1 << 18, &[1], 0), Err(Full::Numbers));
    }
}
