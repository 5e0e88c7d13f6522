//! Which steps are taken in each state of a search for temporal formulas.
//!
//! A part of the steps must not put a visible step off forever. Whether it does shows in the cycles of the graph that the
//! parts lead to, so this is decided for the graph of the states before an automaton is looked at
//! (`crate::temporal::parts`), and then it is fixed: what is taken depends on the state of the model alone.

use quotient_search::partial_order::{Decided, Extent};
use quotient_search::words::Hash;
use quotient_states::store::{Entries, Full, NO_PARENT, Probe, StateNumber, Store};

/// The states that some steps of each lead to, and which.
#[derive(Debug)]
pub(crate) struct Decisions {
    store: Store,
    extents: Vec<Extent>,
}

impl Decided for Decisions {
    #[inline]
    fn extent(&self, state: &[u64]) -> Extent {
        self.store.find(state, Hash::of(state)).map_or(Extent::All, |number| self.extents[number as usize])
    }
}

impl Decisions {
    /// None, for states of a number of words, with a limit in bytes.
    pub(crate) fn new(words: usize, memory_limit: Option<u64>) -> Self {
        Self { store: Store::new(words, Entries::Numbers, memory_limit), extents: Vec::new() }
    }

    /// The number of a state, which is stored if it is new.
    pub(crate) fn number(&mut self, state: &[u64]) -> Result<StateNumber, Full> {
        let hash = Hash::of(state);
        match self.store.probe(state, hash) {
            Probe::Stored(number) => Ok(number),
            Probe::Vacant(position) => {
                let number = self.store.insert(state, hash, position, NO_PARENT)?;
                self.extents.push(Extent::All);
                Ok(number)
            }
        }
    }

    /// A state.
    pub(crate) fn state(&self, number: StateNumber) -> &[u64] {
        self.store.state(number)
    }

    /// How many of the steps of a state are taken.
    pub(crate) fn extent_of(&self, number: StateNumber) -> Extent {
        self.extents[number as usize]
    }

    /// Decides for a state.
    pub(crate) fn decide(&mut self, number: StateNumber, extent: Extent) {
        self.extents[number as usize] = extent;
    }

    /// The number of states.
    pub(crate) fn len(&self) -> u64 {
        self.store.len()
    }

    /// The number of states of which some steps are left out, at least.
    pub(crate) fn parts(&self) -> u64 {
        self.extents.iter().filter(|extent| matches!(extent, Extent::Part | Extent::Seeing)).count() as u64
    }

    /// Bytes in use.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.store.memory_bytes() + self.extents.len() as u64
    }
}
