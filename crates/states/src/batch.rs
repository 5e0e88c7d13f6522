//! Successors waiting for lookup. Looking up several in a row lets their memory latencies overlap, unlike lookups one
//! at a time.

use crate::numbers::{NO_PARENT, Probe, Sighting, StateNumber};
use crate::recent::Recent;
use quotient_search::Successors;
use quotient_search::words::Hash;

/// Stored states that successors are looked up among, several at a time.
pub trait Table {
    /// Looks up several states, each of which comes first in a slice of words. `entries` is working memory.
    fn recognise<'r>(
        &self,
        hashes: &[Hash],
        records: impl Iterator<Item = &'r [u64]>,
        entries: &mut Vec<u64>,
        sightings: &mut Vec<Sighting>,
    );
    /// How often the positions of [`Sighting::Vacant`] have become invalid.
    fn growths(&self) -> u64;
    /// Looks for a state that was looked up when the table had grown that many times.
    fn probe_sighted(&self, state: &[u64], hash: Hash, sighting: Sighting, growths: u64) -> Probe;
}

/// A queue of successors, in the order in which they were found.
#[derive(Debug)]
pub struct Batch {
    /// The successors.
    pub successors: Successors,
    /// The runs of successors of the same state.
    runs: Vec<Run>,
    hashes: Vec<Hash>,
    entries: Vec<u64>,
    /// The successors that were not seen recently, their hashes, and the result of a first lookup.
    rest: Vec<u32>,
    rest_hashes: Vec<Hash>,
    rest_sightings: Vec<Sighting>,
    /// The results of a first lookup, and how often the table of the store had grown at that time.
    sightings: Vec<Sighting>,
    growths: u64,
    capacity: usize,
}

/// Consecutive successors of the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The state.
    pub parent: StateNumber,
    /// The index of the first one.
    pub first: usize,
    /// The index after the last one.
    pub end: usize,
    /// Additional steps to transient states; they count as fired before these.
    pub passed: u64,
}

impl Batch {
    /// The capacity; larger batches hardly overlap better.
    const CAPACITY: usize = 256;
    /// Large states fill a batch sooner.
    const CAPACITY_WORDS: usize = 1 << 16;

    /// An empty batch for states of a number of words.
    pub fn new(words: usize) -> Self {
        Self {
            successors: Successors::new(words),
            runs: Vec::new(),
            hashes: Vec::new(),
            entries: Vec::new(),
            rest: Vec::new(),
            rest_hashes: Vec::new(),
            rest_sightings: Vec::new(),
            sightings: Vec::new(),
            growths: 0,
            capacity: Self::CAPACITY.min(Self::CAPACITY_WORDS / words.max(1)).max(1),
        }
    }

    /// The number of waiting successors.
    #[inline]
    pub fn len(&self) -> usize {
        self.successors.len()
    }
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the successors should be looked up now.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    /// Records that all successors added since the last call come from a state.
    #[inline]
    pub fn close(&mut self, parent: StateNumber) {
        let (first, end) = (self.runs.last().map_or(0, |run| run.end), self.len());
        let passed = self.successors.take_passed();
        if first == end && passed == 0 {
            return;
        }
        match self.runs.last_mut() {
            // Successors reported in pieces count like those reported at once. Starts always come in pieces.
            Some(run) if run.parent == parent && parent != NO_PARENT => {
                run.end = end;
                run.passed += passed;
            }
            _ => self.runs.push(Run { parent, first, end, passed }),
        }
    }

    /// The number of steps: to waiting successors and to transient states.
    #[inline]
    pub fn steps(&self) -> u64 {
        let passed: u64 = self.runs.iter().map(|run| run.passed).sum();
        self.len() as u64 + passed + self.successors.passed()
    }

    /// Whether one of the successors from a position on differs from this state.
    #[inline]
    pub(crate) fn leaves(&self, first: usize, state: &[u64]) -> bool {
        (first..self.len()).any(|position| self.successors.get(position).0 != state)
    }

    /// Computes the hashes of the successors.
    #[inline]
    pub fn hash_all(&mut self) {
        self.hashes.clear();
        // A constant number of words lets the inner loop be unrolled.
        match self.successors.words() {
            1 => self.hash::<1>(),
            2 => self.hash::<2>(),
            3 => self.hash::<3>(),
            _ => self.hashes.extend(self.successors.records().map(|record| Hash::of(&record[..record.len() - 1]))),
        }
    }

    /// The same if states are identified by a key instead of their words.
    pub(crate) fn hash_keys(&mut self, mut key: impl FnMut(&[u64]) -> u64) {
        self.hashes.clear();
        self.hashes.extend(self.successors.records().map(|record| Hash::of_key(key(&record[..record.len() - 1]))));
        self.sightings.clear();
        self.sightings.resize(self.hashes.len(), Sighting::Unknown);
    }

    /// The hashes of the successors, once computed.
    #[inline]
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// Prefetches the memory that looking up the successors will need. A state seen recently is stored by the time it
    /// is looked up, or was dropped and will be dropped again.
    pub fn prepare(&mut self, store: &impl Table, recent: &mut Recent) {
        self.hash_all();
        self.growths = store.growths();
        let Self { successors, hashes, entries, rest, rest_hashes, rest_sightings, sightings, .. } = self;
        if recent.is_paused(hashes.len()) {
            store.recognise(hashes, successors.records(), entries, sightings);
            return;
        }
        sightings.clear();
        rest.clear();
        rest_hashes.clear();
        for ((position, record), &hash) in (0..).zip(successors.records()).zip(&*hashes) {
            sightings.push(Sighting::Stored);
            if !recent.meets(record, hash) {
                rest.push(position);
                rest_hashes.push(hash);
            }
        }
        let records = rest.iter().map(|&position| successors.get(position as usize).0);
        store.recognise(rest_hashes, records, entries, rest_sightings);
        for (&position, &sighting) in rest.iter().zip(&*rest_sightings) {
            sightings[position as usize] = sighting;
        }
    }

    /// Whether a successor need not be looked up. If false, it may be stored by now nevertheless.
    #[inline]
    pub fn is_known(&self, position: usize) -> bool {
        self.sightings[position] == Sighting::Stored
    }

    /// Looks up a successor.
    #[inline]
    pub fn probe(&self, position: usize, store: &impl Table) -> Probe {
        let (state, _, hash) = self.entry(position);
        store.probe_sighted(state, hash, self.sightings[position], self.growths)
    }

    fn hash<const WORDS: usize>(&mut self) {
        self.hashes.extend(self.successors.records().map(|record| Hash::of(&record[..WORDS])));
    }

    /// The runs of successors of the same state, by number.
    #[inline]
    pub fn run(&self, number: usize) -> Option<Run> {
        self.runs.get(number).copied()
    }

    /// One of the successors with its tag and its hash (once prepared).
    #[inline]
    pub fn entry(&self, position: usize) -> (&[u64], u64, Hash) {
        let (state, tag) = self.successors.get(position);
        (state, tag, self.hashes[position])
    }

    /// Forgets all successors.
    #[inline]
    pub fn clear(&mut self) {
        self.successors.clear();
        self.runs.clear();
    }
}
