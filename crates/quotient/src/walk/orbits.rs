//! Orbits of states: which steps lead to states of one orbit, so that their continuations are the same up to renaming, and
//! what the states of an orbit are.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use num_bigint::BigUint;
use quotient_groups::SparsePermutation;
use quotient_ir::Valuation;
use quotient_representatives::Workspace;
use quotient_symmetry::Describer;
use quotient_systems::{Reduction, ReductionPlan};

use crate::model::Model;
use crate::walk::candidates::{Candidates, Consequence};

/// The orbits of the states of a model.
pub struct Orbits {
    model: Model,
    plan: Arc<ReductionPlan>,
    workspace: Workspace,
}

impl Orbits {
    /// The orbits of a plan that has a reduction.
    pub(crate) fn new(model: &Model, plan: Arc<ReductionPlan>) -> Self {
        Self { model: model.clone(), plan, workspace: Workspace::default() }
    }

    /// For each candidate the first one that leads to a state of the same orbit.
    pub fn firsts(&mut self, candidates: &Candidates) -> Vec<usize> {
        let mut known: HashMap<Box<[u64]>, usize> = HashMap::new();
        let list = candidates.list.iter().enumerate();
        list.map(|(position, candidate)| match &candidate.consequence {
            Consequence::State(state) => {
                let mut words = self.model.layout().state(state).0;
                reduction(&self.plan).canonicalizer.canonicalize(&mut self.workspace, &mut words);
                *known.entry(words).or_insert(position)
            }
            Consequence::Violation(_) | Consequence::Exhausted(_) => position,
        })
        .collect()
    }

    /// The representative of a state, and the symmetry that leads there, as cycles in source terms.
    pub fn representative(&mut self, state: &Valuation) -> (Valuation, Vec<String>) {
        let (representative, permutation) = self.canonical(state);
        (representative, self.cycles(&permutation))
    }

    /// The number of states in the orbit of a state.
    pub fn size(&mut self, state: &Valuation) -> BigUint {
        let words = self.model.layout().state(state).0;
        reduction(&self.plan).canonicalizer.orbit_size(&mut self.workspace, &words)
    }

    /// The states of the orbit of a state, this one first, each with the symmetry that leads from this one to it; at most
    /// `limit` of them.
    pub fn members(&mut self, state: &Valuation, limit: usize) -> Vec<(Valuation, Vec<String>)> {
        let mut seen: HashSet<Valuation> = HashSet::from([state.clone()]);
        let mut members = vec![(state.clone(), SparsePermutation::identity())];
        let mut waiting = VecDeque::from([0]);
        while let Some(position) = waiting.pop_front() {
            for (map, generator) in
                reduction(&self.plan).group.maps().iter().zip(reduction(&self.plan).group.generators())
            {
                if members.len() >= limit {
                    break;
                }
                let mut image = map.apply(&members[position].0);
                self.model.layout().normalize(&mut image);
                if seen.insert(image.clone()) {
                    let permutation = members[position].1.then(generator);
                    waiting.push_back(members.len());
                    members.push((image, permutation));
                }
            }
        }
        members.truncate(limit);
        members.into_iter().map(|(member, permutation)| (member, self.cycles(&permutation))).collect()
    }

    fn canonical(&mut self, state: &Valuation) -> (Valuation, SparsePermutation) {
        let mut words = self.model.layout().state(state).0;
        let permutation =
            reduction(&self.plan).canonicalizer.canonicalize_with_witness(&mut self.workspace, &mut words);
        (self.model.layout().unpack(&words), permutation)
    }

    fn cycles(&self, permutation: &SparsePermutation) -> Vec<String> {
        if permutation.is_identity() {
            return Vec::new();
        }
        let literals = reduction(&self.plan).group.literals();
        let action = literals.action(self.model.layout(), permutation).expect("a symmetry acts on states");
        Describer::new(self.model.ir(), self.model.layout(), literals).describe(&action).cycles()
    }
}

fn reduction(plan: &ReductionPlan) -> &Reduction {
    plan.reduction.as_ref().expect("orbits are those of a plan that has a reduction")
}

#[cfg(test)]
mod tests {
    use crate::languages::Language;
    use num_bigint::BigUint;
    use quotient_ir::Interpreter;

    use crate::control::Silent;
    use crate::model::Model;
    use crate::options::Symmetry;
    use crate::walk::{self, Consequence};

    /// Every reachable state of a small model: its orbit by applying symmetries has the size that is computed, and all its
    /// members have one representative.
    #[test]
    fn members_have_one_representative() {
        let text = "type process: scalarset(3); var waiting: array [process] of boolean; turn: process;
            startstate begin for p: process do waiting[p] := false; end; undefine turn; end;
            ruleset p: process do
              rule \"ask\" !waiting[p] ==> begin waiting[p] := true; end;
              rule \"take\" waiting[p] ==> begin turn := p; waiting[p] := false; end;
            end;";
        let model = Model::from_text("turns", text, Language::Murphi).expect("a model");
        let mut orbits = walk::orbits(&model, Symmetry::Auto, &mut Silent).expect("no defect").expect("symmetries");
        let interpreter = Interpreter::new(model.ir(), model.layout());
        let states_of = |candidates: walk::Candidates| {
            let states = candidates.list.into_iter().map(|candidate| match candidate.consequence {
                Consequence::State(state) => state,
                other => panic!("{other:?}"),
            });
            states.collect::<Vec<_>>()
        };
        let mut states = states_of(walk::starts(&interpreter));
        let mut next = 0;
        while next < states.len() {
            for successor in states_of(walk::successors(&interpreter, &states[next])) {
                if !states.contains(&successor) {
                    states.push(successor);
                }
            }
            next += 1;
        }
        assert_eq!(states.len(), 8 + 3 * 8);
        for state in &states {
            let members = orbits.members(state, 100);
            assert_eq!(BigUint::from(members.len()), orbits.size(state));
            let (representative, _) = orbits.representative(state);
            for (member, permutation) in &members {
                assert_eq!(orbits.representative(member).0, representative);
                assert_eq!(permutation.is_empty(), member == state);
                assert!(states.contains(member));
            }
            assert_eq!(orbits.members(state, 1).len(), 1);
        }
    }
}
