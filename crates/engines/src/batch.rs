//! Successors that wait to be looked up. Looking up several in a row lets their waits for memory
//! overlap, which a lookup of one at a time cannot.

use crate::store::{Hash, StateNumber, Store};

/// A queue of successors, in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Batch {
    words: usize,
    states: Vec<u64>,
    parents: Vec<StateNumber>,
    hashes: Vec<Hash>,
    entries: Vec<u64>,
}

impl Batch {
    /// More successors than this hardly overlap better.
    const CAPACITY: usize = 64;
    /// Large states fill a batch sooner.
    const CAPACITY_WORDS: usize = 1 << 16;

    /// An empty batch for states of so many words.
    pub(crate) fn new(words: usize) -> Self {
        Self { words, states: Vec::new(), parents: Vec::new(), hashes: Vec::new(), entries: Vec::new() }
    }

    /// How many successors wait.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether it is time to look the successors up.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.parents.len() >= Self::CAPACITY || self.states.len() >= Self::CAPACITY_WORDS
    }

    /// Adds a successor.
    #[inline]
    pub(crate) fn push(&mut self, state: &[u64], parent: StateNumber) {
        self.states.extend_from_slice(state);
        self.parents.push(parent);
    }

    /// Loads the memory that looking up the successors will need.
    pub(crate) fn prepare(&mut self, store: &Store) {
        self.hashes.clear();
        self.entries.clear();
        self.hashes.extend(self.states.chunks_exact(self.words).map(Hash::of));
        self.entries.extend(self.hashes.iter().map(|&hash| store.touch(hash)));
        for (&entry, &hash) in self.entries.iter().zip(&self.hashes) {
            store.touch_state(entry, hash);
        }
    }

    /// One of the successors with its hash (once prepared) and its parent.
    #[inline]
    pub(crate) fn entry(&self, position: usize) -> (&[u64], Hash, StateNumber) {
        let first = position * self.words;
        (&self.states[first..first + self.words], self.hashes[position], self.parents[position])
    }

    /// Forgets all successors.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.parents.clear();
    }
}
