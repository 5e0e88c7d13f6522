//! State lookup in a search: by words, or by a key that the system defines.

use crate::batch::Batch;
use crate::store::{Probe, Store};
use quotient_search::words::Hash;
use quotient_search::{Identity, SearchSpace};

/// Looks states up; one for each thread.
pub struct Lookup<'a, S: SearchSpace> {
    system: &'a S,
    identity: Identity,
    scratch: S::Scratch,
}

impl<'a, S: SearchSpace> Lookup<'a, S> {
    /// Finds states of a system.
    pub fn new(system: &'a S) -> Self {
        Self { system, identity: system.identity(), scratch: system.scratch() }
    }

    /// Whether states are identified only if their words are equal.
    #[inline]
    pub fn is_by_words(&self) -> bool {
        self.identity == Identity::Words
    }

    /// The hash of a state.
    #[inline]
    pub fn hash(&mut self, state: &[u64]) -> Hash {
        match self.identity {
            Identity::Words => Hash::of(state),
            Identity::Keys | Identity::KeysAndMatches => Hash::of_key(self.system.key(&mut self.scratch, state)),
        }
    }

    /// Computes the hashes of the successors in a batch.
    #[inline]
    pub fn hash_all(&mut self, batch: &mut Batch) {
        match self.identity {
            Identity::Words => batch.hash_all(),
            Identity::Keys | Identity::KeysAndMatches => {
                batch.hash_keys(|state| self.system.key(&mut self.scratch, state));
            }
        }
    }

    /// Looks for a state with a hash.
    #[inline]
    pub fn probe(&mut self, store: &Store, state: &[u64], hash: Hash) -> Probe {
        // An approximate store can only compare hashes.
        if self.is_by_words() || store.is_approximate() {
            return store.probe(state, hash);
        }
        store.probe_matching(hash, |stored| self.system.is_same(&mut self.scratch, stored, state))
    }
}
