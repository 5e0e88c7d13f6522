//! Steps that lead to states of one orbit: whatever one of them leads to, the others lead to as well, with
//! other names.

use std::collections::HashMap;

use quotient_engines::Reduction;
use quotient_ir::Layout;
use quotient_symmetry::Workspace;

use super::candidates::{Candidates, Consequence};

/// Tells which steps lead to states of one orbit.
pub(super) struct Orbits<'m> {
    layout: &'m Layout,
    reduction: Reduction,
    workspace: Workspace,
}

impl<'m> Orbits<'m> {
    /// The orbits of a reduction.
    pub(super) fn new(layout: &'m Layout, reduction: Reduction) -> Self {
        Self { layout, reduction, workspace: Workspace::default() }
    }

    /// For each candidate the first one that leads to a state of the same orbit.
    pub(super) fn firsts(&mut self, candidates: &Candidates) -> Vec<usize> {
        let mut known: HashMap<Box<[u64]>, usize> = HashMap::new();
        let list = candidates.list.iter().enumerate();
        list.map(|(position, candidate)| match &candidate.consequence {
            Consequence::State(state) => {
                let mut words = self.layout.state(state).0;
                self.reduction.canonicalizer.canonicalize(&mut self.workspace, &mut words);
                *known.entry(words).or_insert(position)
            }
            Consequence::Violation(_) | Consequence::Exhausted(_) => position,
        })
        .collect()
    }
}
