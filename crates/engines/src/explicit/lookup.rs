//! State lookup in a search: by words, or by a key that the system defines.

use crate::explicit::batch::Batch;
use crate::explicit::store::{Probe, Store};
use crate::seam::{Identity, SearchSpace};
use crate::words::Hash;

/// Looks states up; one for each thread.
pub(crate) struct Lookup<'a, S: SearchSpace> {
    system: &'a S,
    identity: Identity,
    scratch: S::Scratch,
}

impl<'a, S: SearchSpace> Lookup<'a, S> {
    pub(crate) fn new(system: &'a S) -> Self {
        Self { system, identity: system.identity(), scratch: system.scratch() }
    }

    /// Whether states are identified only if their words are equal.
    #[inline]
    pub(crate) fn is_by_words(&self) -> bool {
        self.identity == Identity::Words
    }

    /// The hash of a state.
    #[inline]
    pub(crate) fn hash(&mut self, state: &[u64]) -> Hash {
        match self.identity {
            Identity::Words => Hash::of(state),
            Identity::Keys | Identity::KeysAndMatches => Hash::of_key(self.system.key(&mut self.scratch, state)),
        }
    }

    /// Computes the hashes of the successors in a batch.
    #[inline]
    pub(crate) fn hash_all(&mut self, batch: &mut Batch) {
        match self.identity {
            Identity::Words => batch.hash_all(),
            Identity::Keys | Identity::KeysAndMatches => {
                batch.hash_keys(|state| self.system.key(&mut self.scratch, state));
            }
        }
    }

    /// Looks for a state with a hash.
    #[inline]
    pub(crate) fn probe(&mut self, store: &Store, state: &[u64], hash: Hash) -> Probe {
        // An approximate store can only compare hashes.
        if self.is_by_words() || store.is_approximate() {
            return store.probe(state, hash);
        }
        store.probe_matching(hash, |stored| self.system.is_same(&mut self.scratch, stored, state))
    }
}
