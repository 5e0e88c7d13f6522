//! The orbits of a model's states, found once, and shared by graph and runs.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use quotient::ir::Valuation;
use quotient::walk::{self, Candidates};
use quotient::{Error, Model, Silent, Symmetry};

/// Orbits, or single states if there are no symmetries.
pub(crate) struct SharedOrbits {
    model: Model,
    symmetry: Symmetry,
    found: OnceLock<Option<Mutex<walk::Orbits>>>,
}

impl SharedOrbits {
    /// Begins to look for symmetries.
    pub(crate) fn start(model: &Model, symmetry: Symmetry) -> Arc<Self> {
        let orbits = Arc::new(Self { model: model.clone(), symmetry, found: OnceLock::new() });
        let own = orbits.clone();
        // Without a thread, the first request looks for them.
        let _ = std::thread::Builder::new().name("orbits".to_owned()).spawn(move || own.is_reduced());
        orbits
    }

    fn orbits(&self) -> Option<MutexGuard<'_, walk::Orbits>> {
        let find = || -> Result<_, Error> { walk::orbits(&self.model, self.symmetry, &mut Silent) };
        // A defect of detection is reported by the search.
        let found = self.found.get_or_init(|| find().ok().flatten().map(Mutex::new));
        found.as_ref().map(|orbits| orbits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there are symmetries.
    pub(crate) fn is_reduced(&self) -> bool {
        self.orbits().is_some()
    }

    /// The representative of a state, and the symmetry that leads there.
    pub(crate) fn representative(&self, state: Valuation) -> (Valuation, Vec<String>) {
        match self.orbits() {
            Some(mut orbits) => orbits.representative(&state),
            None => (state, Vec::new()),
        }
    }

    /// The number of states in an orbit.
    pub(crate) fn size(&self, state: &Valuation) -> String {
        self.orbits().map_or_else(|| "1".to_owned(), |mut orbits| orbits.size(state).to_string())
    }

    /// The states of an orbit, each with the symmetry that leads there.
    pub(crate) fn members(&self, state: &Valuation, limit: usize) -> Vec<(Valuation, Vec<String>)> {
        match self.orbits() {
            Some(mut orbits) => orbits.members(state, limit),
            None => vec![(state.clone(), Vec::new())],
        }
    }

    /// For each candidate the first that leads to a state of the same orbit.
    pub(crate) fn firsts(&self, candidates: &Candidates) -> Vec<usize> {
        match self.orbits() {
            Some(mut orbits) => orbits.firsts(candidates),
            None => (0..candidates.list.len()).collect(),
        }
    }
}
