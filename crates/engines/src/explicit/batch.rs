//! Successors that wait to be looked up. Looking up several in a row lets their waits for memory
//! overlap, which a lookup of one at a time cannot.

use crate::explicit::recent::Recent;
use crate::explicit::store::{Hash, NO_PARENT, Probe, Sighting, StateNumber, Store};
use crate::seam::Successors;

/// A queue of successors, in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) successors: Successors,
    /// The runs of successors of the same state.
    runs: Vec<Run>,
    hashes: Vec<Hash>,
    entries: Vec<u64>,
    /// The successors that were not met a short while ago, their hashes, and what is known of them.
    rest: Vec<u32>,
    rest_hashes: Vec<Hash>,
    rest_sightings: Vec<Sighting>,
    /// What is known of the successors, and how often the table of the store had grown then.
    sightings: Vec<Sighting>,
    growths: u64,
    capacity: usize,
}

/// Successors of a state in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The state.
    pub(crate) parent: StateNumber,
    /// The first of them.
    pub(crate) first: usize,
    /// The one after the last.
    pub(crate) end: usize,
    /// Steps to states that are passed through beside them; they count as fired before these.
    pub(crate) passed: u64,
}

impl Batch {
    /// More successors than this hardly overlap better.
    const CAPACITY: usize = 256;
    /// Large states fill a batch sooner.
    const CAPACITY_WORDS: usize = 1 << 16;

    /// An empty batch for states of so many words.
    pub(crate) fn new(words: usize) -> Self {
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
        let (first, end) = (self.runs.last().map_or(0, |run| run.end), self.len());
        let passed = self.successors.take_passed();
        if first == end && passed == 0 {
            return;
        }
        match self.runs.last_mut() {
            // What is told piece by piece counts as what comes at once. Starts always come in pieces.
            Some(run) if run.parent == parent && parent != NO_PARENT => {
                run.end = end;
                run.passed += passed;
            }
            _ => self.runs.push(Run { parent, first, end, passed }),
        }
    }

    /// How many steps there are: to successors that wait and to states that were passed through.
    pub(crate) fn steps(&self) -> u64 {
        let passed: u64 = self.runs.iter().map(|run| run.passed).sum();
        self.len() as u64 + passed + self.successors.passed()
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

    /// The same where other numbers than their words identify states.
    pub(crate) fn hash_keys(&mut self, mut key: impl FnMut(&[u64]) -> u64) {
        self.hashes.clear();
        self.hashes.extend(self.successors.records().map(|record| Hash::of_key(key(&record[..record.len() - 1]))));
        self.sightings.clear();
        self.sightings.resize(self.hashes.len(), Sighting::Unknown);
    }

    /// Loads the memory that looking up the successors will need. What was met a short while ago is stored by
    /// the time it is looked up, or was dropped and will be again.
    pub(crate) fn prepare(&mut self, store: &Store, recent: &mut Recent) {
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

    /// Whether a successor need not be looked up. If not so, it may be stored by now all the same.
    #[inline]
    pub(crate) fn is_known(&self, position: usize) -> bool {
        self.sightings[position] == Sighting::Stored
    }

    /// Looks for a successor.
    #[inline]
    pub(crate) fn probe(&self, position: usize, store: &Store) -> Probe {
        let (state, _, hash) = self.entry(position);
        store.probe_sighted(state, hash, self.sightings[position], self.growths)
    }

    fn hash<const WORDS: usize>(&mut self) {
        self.hashes.extend(self.successors.records().map(|record| Hash::of(&record[..WORDS])));
    }

    /// The runs of successors of the same state, by number.
    #[inline]
    pub(crate) fn run(&self, number: usize) -> Option<Run> {
        self.runs.get(number).copied()
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
        self.runs.clear();
    }
}
