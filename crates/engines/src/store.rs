//! The states found so far: packed words in an arena, in order of discovery, and an
//! open-addressing table of their numbers.
//!
//! A state costs its words, four bytes for the link to its parent and one table entry of eight
//! bytes divided by the load of the table (between one half and three quarters). An entry holds
//! 32 bits of the hash beside the number, so that a probe compares words only when the states are
//! almost certainly equal. The arena grows by whole chunks and never moves; the table is rebuilt
//! from the arena after the old one is freed. So memory never doubles for a moment.

use std::hint::black_box;

/// The number of a stored state, in order of discovery.
pub(crate) type StateNumber = u32;

/// The parent of a state that a start led to.
pub(crate) const NO_PARENT: StateNumber = u32::MAX;

/// States the store can number; the last numbers are kept for "none".
pub(crate) const STATE_LIMIT: u64 = u32::MAX as u64 - 1;

/// Words of a chunk, about. A chunk holds at least one state.
const CHUNK_WORDS: usize = 1 << 16;
/// Entries of the smallest table.
const FIRST_TABLE: usize = 1 << 10;

/// Why a state cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// There are as many states as there are numbers.
    Numbers,
    /// The memory limit would be passed.
    Memory,
    /// The system has no more memory.
    System,
}

/// A hash of a state, from which its place in the table and its tag are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    /// Multiplies and folds word by word, so that each bit of the state reaches all bits.
    #[inline]
    pub(crate) fn of(state: &[u64]) -> Self {
        let mut hash = 0x243f_6a88_85a3_08d3;
        for &word in state {
            hash = fold(hash ^ word, 0x9e37_79b9_7f4a_7c15);
        }
        Self(fold(hash, 0xd6e8_feb8_6659_fd93))
    }
    #[inline]
    fn tag(self) -> u32 {
        self.0 as u32
    }
}

/// Whether two states of the same length are equal. Most have one or two words, for which a call
/// that compares memory costs more.
#[inline]
fn same(left: &[u64], right: &[u64]) -> bool {
    left.iter().zip(right).all(|(left, right)| left == right)
}

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The set of stored states.
#[derive(Debug)]
pub(crate) struct Store {
    words: usize,
    /// The number of states of a chunk is two to this power.
    chunk_shift: u32,
    states: Vec<Vec<u64>>,
    parents: Vec<Vec<StateNumber>>,
    length: u64,
    /// Each entry: tag in the upper half, number plus one in the lower; zero if vacant.
    table: Vec<u64>,
    memory_limit: u64,
    peak_bytes: u64,
}

impl Store {
    /// An empty store for states of so many words that may use so many bytes.
    pub(crate) fn new(words: usize, memory_limit: Option<u64>) -> Self {
        let states = (CHUNK_WORDS / words.max(1)).max(1);
        Self {
            words,
            chunk_shift: states.ilog2(),
            states: Vec::new(),
            parents: Vec::new(),
            length: 0,
            table: Vec::new(),
            memory_limit: memory_limit.unwrap_or(u64::MAX),
            peak_bytes: 0,
        }
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Bytes in use for states.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let chunk = self.chunk_bytes() * self.states.len() as u64;
        chunk + 8 * self.table.len() as u64
    }

    /// The most bytes that were in use.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// The words of a stored state.
    #[inline]
    pub(crate) fn state(&self, number: StateNumber) -> &[u64] {
        let first = self.offset(number) * self.words;
        &self.states[self.chunk(number)][first..first + self.words]
    }

    /// The state from which a state was found; none if a start led to it.
    pub(crate) fn parent(&self, number: StateNumber) -> Option<StateNumber> {
        let parent = self.parents[self.chunk(number)][self.offset(number)];
        (parent != NO_PARENT).then_some(parent)
    }

    /// The number of a state if it is stored.
    #[inline]
    pub(crate) fn find(&self, state: &[u64], hash: Hash) -> Option<StateNumber> {
        if self.table.is_empty() {
            return None;
        }
        let tag = u64::from(hash.tag()) << 32;
        let mut position = self.home(hash);
        loop {
            let entry = self.table[position];
            let low = entry as u32;
            if low == 0 {
                return None;
            }
            if entry ^ tag == u64::from(low) && same(self.state(low - 1), state) {
                return Some(low - 1);
            }
            position = self.after(position);
        }
    }

    /// Loads what [`Store::find`] will look at first. Called for several states in a row, the
    /// waits for memory overlap.
    #[inline]
    pub(crate) fn touch(&self, hash: Hash) -> u64 {
        if self.table.is_empty() { 0 } else { self.table[self.home(hash)] }
    }

    /// Loads the state that an entry returned by [`Store::touch`] names.
    #[inline]
    pub(crate) fn touch_state(&self, entry: u64, hash: Hash) {
        let low = entry as u32;
        if low != 0 && (entry >> 32) as u32 == hash.tag() {
            black_box(self.state(low - 1)[0]);
        }
    }

    /// Stores a state that is not stored yet.
    ///
    /// # Errors
    /// If there is no room for it. The store is useless then, except for what is in it.
    pub(crate) fn insert(&mut self, state: &[u64], hash: Hash, parent: StateNumber) -> Result<StateNumber, Full> {
        if self.length >= STATE_LIMIT {
            return Err(Full::Numbers);
        }
        if (self.length + 1) * 4 > self.table.len() as u64 * 3 {
            self.grow_table()?;
        }
        let number = self.length as StateNumber;
        if self.chunk(number) == self.states.len() {
            self.add_chunk()?;
        }
        let chunk = self.chunk(number);
        self.states[chunk].extend_from_slice(state);
        self.parents[chunk].push(parent);
        self.length += 1;
        self.enter(number, hash);
        Ok(number)
    }

    /// Puts a number into the first vacant entry from its home on.
    fn enter(&mut self, number: StateNumber, hash: Hash) {
        let mut position = self.home(hash);
        while self.table[position] != 0 {
            position = self.after(position);
        }
        self.table[position] = u64::from(hash.tag()) << 32 | u64::from(number + 1);
    }

    fn add_chunk(&mut self) -> Result<(), Full> {
        self.reserve(self.memory_bytes() + self.chunk_bytes())?;
        let per_chunk = 1usize << self.chunk_shift;
        let mut states = Vec::new();
        let mut parents = Vec::new();
        states.try_reserve_exact(per_chunk * self.words).map_err(|_| Full::System)?;
        parents.try_reserve_exact(per_chunk).map_err(|_| Full::System)?;
        self.states.push(states);
        self.parents.push(parents);
        Ok(())
    }

    /// Replaces the table by one half as large again (twice while it is small).
    fn grow_table(&mut self) -> Result<(), Full> {
        let old = self.table.len();
        let new = if old < 1 << 16 { (2 * old).max(FIRST_TABLE) } else { old + old / 2 };
        self.reserve(self.memory_bytes() + 8 * (new - old) as u64)?;
        self.table = Vec::new();
        self.table.try_reserve_exact(new).map_err(|_| Full::System)?;
        self.table.resize(new, 0);
        for number in 0..self.length as StateNumber {
            self.enter(number, Hash::of(self.state(number)));
        }
        Ok(())
    }

    fn reserve(&mut self, bytes: u64) -> Result<(), Full> {
        if bytes > self.memory_limit {
            return Err(Full::Memory);
        }
        self.peak_bytes = self.peak_bytes.max(bytes);
        Ok(())
    }

    fn chunk_bytes(&self) -> u64 {
        (1u64 << self.chunk_shift) * (8 * self.words as u64 + 4)
    }
    #[inline]
    fn chunk(&self, number: StateNumber) -> usize {
        (number >> self.chunk_shift) as usize
    }
    #[inline]
    fn offset(&self, number: StateNumber) -> usize {
        number as usize & ((1 << self.chunk_shift) - 1)
    }
    /// The first position to look at: the hash scaled to the size of the table, which need not be
    /// a power of two.
    #[inline]
    fn home(&self, hash: Hash) -> usize {
        ((u128::from(hash.0) * self.table.len() as u128) >> 64) as usize
    }
    #[inline]
    fn after(&self, position: usize) -> usize {
        if position + 1 == self.table.len() { 0 } else { position + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States that differ in few bits, as those of models do.
    fn sample(words: usize, number: u64) -> Vec<u64> {
        (0..words as u64).map(|word| if word % 2 == 0 { number } else { number >> 7 << 40 }).collect()
    }

    #[test]
    fn finds_what_was_stored_and_nothing_else() {
        for words in [1, 2, 3, 40] {
            let mut store = Store::new(words, None);
            for number in 0..30_000 {
                let state = sample(words, number);
                let hash = Hash::of(&state);
                assert_eq!(store.find(&state, hash), None);
                let parent = if number == 0 { NO_PARENT } else { number as u32 / 2 };
                assert_eq!(store.insert(&state, hash, parent), Ok(number as u32));
            }
            for number in 0..30_000 {
                let state = sample(words, number);
                assert_eq!(store.find(&state, Hash::of(&state)), Some(number as u32));
                assert_eq!(store.state(number as u32), state);
                assert_eq!(store.parent(number as u32), (number != 0).then_some(number as u32 / 2));
            }
            assert_eq!(store.len(), 30_000);
        }
    }

    #[test]
    fn memory_limit_is_kept() {
        let limit = 1 << 20;
        let mut store = Store::new(1, Some(limit));
        let mut number = 0;
        let full = loop {
            let state = [number];
            match store.insert(&state, Hash::of(&state), NO_PARENT) {
                Ok(_) => number += 1,
                Err(full) => break full,
            }
        };
        assert_eq!(full, Full::Memory);
        assert!(store.peak_bytes() <= limit);
        assert!(number > 10_000, "{number} states in a megabyte");
    }

    #[test]
    fn a_small_state_takes_few_bytes() {
        let mut store = Store::new(1, None);
        for number in 0..3_000_000u64 {
            store.insert(&[number], Hash::of(&[number]), NO_PARENT).expect("there is room");
            if number > 1_000_000 {
                assert!(store.peak_bytes() / number <= 30);
            }
        }
    }
}
