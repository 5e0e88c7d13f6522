//! All stored states of a search, in one store or, after a search on several threads, in several, each responsible for
//! a share of the hashes; and the states that were moved to disk.

use std::io;
use std::ops::ControlFlow;

use num_bigint::BigUint;
use rustc_hash::FxHashSet;

use crate::dense::Numbers;
use crate::lookup::Lookup;
use crate::overflow::Overflow;
use crate::store::{NO_PARENT, Probe, StateNumber, Store};
use quotient_search::SearchSpace;
use quotient_search::words::Hash;

/// Stores that share the states of a search. The number of a state is its number in its store, followed by the number
/// of the store in the lowest bits.
#[derive(Debug)]
pub struct Shards {
    stores: Vec<Store>,
    /// The binary logarithm of the number of stores.
    bits: u32,
    /// States that did not fit into memory. They have greater numbers than the others, and only `Shards::path` and
    /// `Shards::visit` include them.
    pub overflow: Option<Overflow>,
    /// What is known of all states of a search on several machines, of which only those on runs to findings are here.
    pub(crate) everywhere: Option<Everywhere>,
}

/// What is known of states that several machines store.
#[derive(Clone, Debug)]
pub struct Everywhere {
    /// The number of states that they represent.
    pub represented: Option<BigUint>,
}

impl Shards {
    /// States in one store.
    pub fn single(store: Store) -> Self {
        Self { stores: vec![store], bits: 0, overflow: None, everywhere: None }
    }

    /// States of a search on several machines, as far as they are here.
    pub fn partly(store: Store, everywhere: Everywhere) -> Self {
        Self { everywhere: Some(everywhere), ..Self::single(store) }
    }

    /// States in several stores, whose number must be a power of two.
    pub fn several(stores: Vec<Store>) -> Self {
        let bits = stores.len().ilog2();
        debug_assert_eq!(1 << bits, stores.len());
        Self { stores, bits, overflow: None, everywhere: None }
    }

    /// The number of states.
    #[inline]
    pub fn len(&self) -> u64 {
        self.stores.iter().map(Store::len).sum()
    }
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number greater than that of every state.
    #[inline]
    pub fn bound(&self) -> u64 {
        self.stores.iter().map(Store::len).max().unwrap_or(0) << self.bits
    }

    /// The numbers of all states.
    pub fn numbers(&self) -> impl Iterator<Item = StateNumber> {
        let bits = self.bits;
        (0..)
            .zip(&self.stores)
            .flat_map(move |(shard, store)| (0..store.len() as StateNumber).map(move |number| number << bits | shard))
    }

    /// Bytes in use for states.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.stores.iter().map(Store::memory_bytes).sum()
    }

    /// Whether the stores are dense: numbers, words and parents of states are not known.
    #[inline]
    pub fn is_dense(&self) -> bool {
        self.stores.iter().any(|store| store.dense().is_some())
    }

    /// The words of a state.
    #[inline]
    pub fn state(&self, number: StateNumber) -> &[u64] {
        self.stores[self.shard(number)].state(number >> self.bits)
    }

    /// The parent of a state; none if a start led to it.
    #[inline]
    pub fn parent(&self, number: StateNumber) -> Option<StateNumber> {
        self.stores[self.shard(number)].parent(number >> self.bits)
    }

    /// The number of a state if it is stored, if tables know numbers.
    #[inline]
    pub(crate) fn find<S: SearchSpace>(&self, lookup: &mut Lookup<'_, S>, state: &[u64]) -> Option<StateNumber> {
        let hash = lookup.hash(state);
        let shard = hash.shard(self.bits);
        match lookup.probe(&self.stores[shard], state, hash) {
            Probe::Stored(number) => {
                debug_assert_ne!(number, NO_PARENT);
                Some(number << self.bits | shard as StateNumber)
            }
            Probe::Vacant(_) => None,
        }
    }

    /// The states of the run to a state, from its start.
    pub(crate) fn path(&self, origin: Option<StateNumber>) -> io::Result<Vec<Vec<u64>>> {
        let mut path = Vec::new();
        let mut number = origin;
        while let Some(state) = number {
            let overflowed = match &self.overflow {
                Some(overflow) => overflow.get(state)?,
                None => None,
            };
            match overflowed {
                Some((words, parent)) => {
                    path.push(words);
                    number = (parent != NO_PARENT).then_some(parent);
                }
                None => {
                    path.push(self.state(state).to_vec());
                    number = self.parent(state);
                }
            }
        }
        path.reverse();
        Ok(path)
    }

    /// Visits the states of a search, except some that do not count. A break ends the traversal.
    pub(crate) fn visit(
        &self,
        surplus: &FxHashSet<StateNumber>,
        mut visit: impl FnMut(&[u64]) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        if self.is_dense() {
            // States that do not count were stored last, so that their words are known.
            let words = |&number: &StateNumber| {
                let store = &self.stores[self.shard(number)];
                let mut state = vec![0; store.words()];
                store.read(number >> self.bits, &mut Numbers::default(), &mut state);
                state
            };
            let surplus: FxHashSet<Vec<u64>> = surplus.iter().map(words).collect();
            let mut visit = |state: &[u64]| match surplus.contains(state) {
                true => ControlFlow::Continue(()),
                false => visit(state),
            };
            return Ok(self.stores.iter().filter_map(Store::dense).try_for_each(|dense| dense.visit(&mut visit)));
        }
        for number in self.numbers().filter(|number| !surplus.contains(number)) {
            if visit(self.state(number)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.overflow.as_ref().map_or(Ok(ControlFlow::Continue(())), |overflow| overflow.visit(visit))
    }

    /// The numbers of all states in pieces of a size, for searches whose states are in memory.
    pub(crate) fn pieces(&self, size: usize) -> Option<Vec<impl Iterator<Item = StateNumber> + use<>>> {
        let is_whole = !self.is_dense() && self.overflow.is_none() && self.everywhere.is_none();
        let bits = self.bits;
        let of_store = move |(shard, store): (StateNumber, &Store)| {
            let length = store.len() as StateNumber;
            let piece = move |first: StateNumber| {
                (first..length.min(first.saturating_add(size as StateNumber))).map(move |number| number << bits | shard)
            };
            (0..length).step_by(size).map(piece).collect::<Vec<_>>()
        };
        is_whole.then(|| (0..).zip(&self.stores).flat_map(of_store).collect())
    }

    /// Whether a state is stored.
    #[inline]
    pub fn contains(&self, state: &[u64]) -> bool {
        self.contains_hashed(state, Hash::of(state))
    }

    /// Whether a state with a hash is stored.
    #[inline]
    pub fn contains_hashed(&self, state: &[u64], hash: Hash) -> bool {
        matches!(self.stores[hash.shard(self.bits)].probe(state, hash), Probe::Stored(_))
    }

    #[inline]
    fn shard(&self, number: StateNumber) -> usize {
        number as usize & ((1 << self.bits) - 1)
    }
}
