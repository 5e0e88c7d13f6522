//! The states found so far: encodings of different lengths in one piece of memory.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

/// The number of a state, in the order of discovery.
pub(crate) type Number = u32;

/// No state.
pub(crate) const NONE: Number = Number::MAX;

/// States by their encodings, each with the one it was found from.
#[derive(Default)]
pub(crate) struct Store {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    origins: Vec<Number>,
    /// The last state with a hash, and for each state the one before it with the same.
    last: FxHashMap<u64, Number>,
    before: Vec<Number>,
}

impl Store {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn key(&self, number: Number) -> &[u8] {
        let number = number as usize;
        let begin = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[begin..self.ends[number]]
    }

    /// The state that a state was found from.
    fn origin(&self, number: Number) -> Option<Number> {
        Some(self.origins[number as usize]).filter(|&origin| origin != NONE)
    }

    /// The states on the way to one.
    pub(crate) fn keys_to(&self, number: Option<Number>) -> Vec<Vec<u8>> {
        let way = std::iter::successors(number, |&number| self.origin(number));
        let mut keys: Vec<Vec<u8>> = way.map(|number| self.key(number).to_vec()).collect();
        keys.reverse();
        keys
    }

    /// The number of a state, if it is stored.
    pub(crate) fn number(&self, key: &[u8]) -> Option<Number> {
        let mut next = self.last.get(&hash(key)).copied().unwrap_or(NONE);
        while next != NONE {
            if self.key(next) == key {
                return Some(next);
            }
            next = self.before[next as usize];
        }
        None
    }

    /// Stores a state that is not there.
    pub(crate) fn push(&mut self, key: &[u8], origin: Option<Number>) -> Number {
        let number = self.len() as Number;
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        self.origins.push(origin.unwrap_or(NONE));
        self.before.push(self.last.insert(hash(key), number).unwrap_or(NONE));
        number
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> u64 {
        let entry = size_of::<(u64, Number)>() + 1;
        let own = self.ends.capacity() * size_of::<usize>() + (self.origins.capacity() + self.before.capacity()) * 4;
        (self.bytes.capacity() + own + self.last.capacity() * entry) as u64
    }
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}
