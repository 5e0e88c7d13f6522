//! A cache of the values of conditions about objects, keyed by everything that was read to evaluate them. The machine looks
//! values up and adds them.

use rustc_hash::FxHashMap;

use super::numbered::{Kind, Numbered};

/// The most words that are remembered; beyond, everything is forgotten.
const MOST_WORDS: usize = 1 << 21;
/// So often is looked before it is judged whether that pays.
const TRIAL: u64 = 1 << 13;
/// After so many vain attempts in a row, a condition is not looked up any more.
pub(crate) const ATTEMPTS: u8 = 32;

/// What is known about conditions, and the numbers of the state of a machine.
#[derive(Default)]
pub(crate) struct Facts {
    /// Whether the machine has a state with numbers, as it was loaded.
    pub(crate) is_current: bool,
    pub(crate) shared: u32,
    /// For each family and entity.
    pub(crate) kinds: Vec<Vec<Kind>>,
    pub(crate) known: FxHashMap<Box<[u64]>, Fact>,
    /// For each condition, how often in a row it was neither known nor could be remembered, since it used other objects.
    pub(crate) futile: Vec<u8>,
    pub(crate) key: Vec<u64>,
    words: usize,
    pub(crate) looked: u64,
    pub(crate) missed: u64,
    is_off: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Fact {
    False,
    True,
    Fault,
}

impl Facts {
    /// The state of the machine is this one.
    pub(crate) fn begin(&mut self, state: &Numbered) {
        if self.looked > TRIAL && self.missed > self.looked / 2 {
            self.is_off = true;
            self.known = FxHashMap::default();
        }
        self.is_current = !self.is_off;
        self.shared = state.shared;
        self.kinds.resize_with(state.groups.len(), Vec::new);
        for (kinds, groups) in self.kinds.iter_mut().zip(&state.groups) {
            kinds.clear();
            kinds.extend(groups.iter().map(|group| group.kind));
        }
    }

    /// The state of the machine is none with numbers, or it changes.
    pub(crate) fn end(&mut self) {
        self.is_current = false;
    }

    /// Remembers the value of a condition.
    pub(crate) fn learn(&mut self, key: Box<[u64]>, fact: Fact) {
        self.words += key.len() + 4;
        if self.words > MOST_WORDS {
            self.known.clear();
            self.words = 0;
        }
        self.known.insert(key, fact);
    }
}
