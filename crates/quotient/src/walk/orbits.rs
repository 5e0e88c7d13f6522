//! Steps that lead to states of one orbit: their continuations are the same up to renaming.

use std::collections::HashMap;

use quotient_engines::Reduction;
use quotient_symmetry::Workspace;

use crate::model::Model;
use crate::walk::candidates::{Candidates, Consequence};

/// Determines which steps lead to states of one orbit.
pub struct Orbits {
    model: Model,
    reduction: Reduction,
    workspace: Workspace,
}

impl Orbits {
    /// The orbits of a reduction.
    pub(crate) fn new(model: &Model, reduction: Reduction) -> Self {
        Self { model: model.clone(), reduction, workspace: Workspace::default() }
    }

    /// For each candidate the first one that leads to a state of the same orbit.
    pub fn firsts(&mut self, candidates: &Candidates) -> Vec<usize> {
        let mut known: HashMap<Box<[u64]>, usize> = HashMap::new();
        let list = candidates.list.iter().enumerate();
        list.map(|(position, candidate)| match &candidate.consequence {
            Consequence::State(state) => {
                let mut words = self.model.layout().state(state).0;
                self.reduction.canonicalizer.canonicalize(&mut self.workspace, &mut words);
                *known.entry(words).or_insert(position)
            }
            Consequence::Violation(_) | Consequence::Exhausted(_) => position,
        })
        .collect()
    }
}
