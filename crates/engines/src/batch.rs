//! Successors that wait to be looked up. Looking up several in a row lets their waits for memory
//! overlap, which a lookup of one at a time cannot.

use crate::store::{Hash, StateNumber, Store};
use crate::system::Successors;

/// A queue of successors, in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) successors: Successors,
    /// Where the successors of a state end, and the state.
    parents: Vec<(u32, StateNumber)>,
    hashes: Vec<Hash>,
    entries: Vec<u64>,
    /// Whether a successor is known to be stored.
    known: Vec<bool>,
    capacity: usize,
}

impl Batch {
    /// More successors than this hardly overlap better.
    const CAPACITY: usize = 128;
    /// Large states fill a batch sooner.
    const CAPACITY_WORDS: usize = 1 << 16;

    /// An empty batch for states of so many words.
    pub(crate) fn new(words: usize) -> Self {
        Self {
            successors: Successors::new(words),
            parents: Vec::new(),
            hashes: Vec::new(),
            entries: Vec::new(),
            known: Vec::new(),
            capacity: Self::CAPACITY.min(Self::CAPACITY_WORDS / words.max(1)).max(1),
        }
    }

    /// How many successors wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.successors.len()
    }

    /// Whether it is time to look the successors up.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    /// Takes note that all successors added since the last call come from a state.
    #[inline]
    pub(crate) fn close(&mut self, parent: StateNumber) {
        let end = self.len() as u32;
        if self.parents.last().map_or(0, |&(end, _)| end) < end {
            self.parents.push((end, parent));
        }
    }

    /// Whether one of the successors from a position on is another state than this one.
    pub(crate) fn leaves(&self, first: usize, state: &[u64]) -> bool {
        (first..self.len()).any(|position| self.successors.get(position).0 != state)
    }

    /// Computes the hashes of the successors.
    pub(crate) fn hash_all(&mut self) {
        self.hashes.clear();
        // A constant number of words lets the loop inside be unrolled.
        match self.successors.words() {
            1 => self.hash::<1>(),
            2 => self.hash::<2>(),
            3 => self.hash::<3>(),
            _ => self.hashes.extend(self.successors.records().map(|record| Hash::of(&record[..record.len() - 1]))),
        }
    }

    /// Loads the memory that looking up the successors will need.
    pub(crate) fn prepare(&mut self, store: &Store) {
        self.hash_all();
        self.entries.clear();
        // Each of these loops waits for memory once, not once for each successor.
        self.entries.extend(self.hashes.iter().map(|&hash| store.touch(hash)));
        self.known.clear();
        let entries = self.entries.iter().zip(&self.hashes).zip(self.successors.records());
        self.known.extend(entries.map(|((&entry, &hash), record)| store.confirms(entry, hash, record)));
    }

    /// Whether a successor was stored when the batch was prepared. If not, it may be by now.
    #[inline]
    pub(crate) fn is_known(&self, position: usize) -> bool {
        self.known[position]
    }

    fn hash<const WORDS: usize>(&mut self) {
        self.hashes.extend(self.successors.records().map(|record| Hash::of(&record[..WORDS])));
    }

    /// The runs of successors of the same state: the state, the first and the one after the last.
    pub(crate) fn run(&self, number: usize) -> Option<(StateNumber, usize, usize)> {
        let &(end, parent) = self.parents.get(number)?;
        let start = if number == 0 { 0 } else { self.parents[number - 1].0 };
        Some((parent, start as usize, end as usize))
    }

    /// One of the successors with its tag and its hash (once prepared).
    #[inline]
    pub(crate) fn entry(&self, position: usize) -> (&[u64], u64, Hash) {
        let (state, tag) = self.successors.get(position);
        (state, tag, self.hashes[position])
    }

    /// Forgets all successors.
    pub(crate) fn clear(&mut self) {
        self.successors.clear();
        self.parents.clear();
    }
}
