//! The automata of temporal claims.

use quotient_ir::{Temporal, TemporalClaim};
use quotient_temporal::{Atom, Automaton, Cube, Transition, simplify, translate};

use quotient_search::EngineError;

/// The automaton of the runs that violate a claim.
pub fn negated(temporal: &Temporal) -> Result<Automaton, EngineError> {
    match &temporal.claim {
        TemporalClaim::Linear { pool, formula } => {
            let mut pool = pool.clone();
            let negation = pool.not(*formula);
            let negation = simplify(&mut pool, negation);
            translate(&mut pool, negation).map_err(|error| EngineError::Formula(error.to_string()))
        }
        TemporalClaim::Never(automaton) => Ok(automaton.clone()),
        TemporalClaim::Branching { .. } => Ok(follower(temporal.atoms.len())),
        TemporalClaim::Behaviour(_) => Err(EngineError::Refused("a claim about events has no automaton")),
    }
}

/// An automaton that follows every run and asks for nothing: the product with it is the graph of the states.
pub fn follower(atoms: usize) -> Automaton {
    Automaton {
        atoms: (0..atoms as u32).map(Atom).collect(),
        states: 1,
        initial: vec![0],
        acceptance_sets: 0,
        transitions: vec![Transition { from: 0, to: 0, cube: Cube::TRUE, acceptance: 0 }],
    }
}
