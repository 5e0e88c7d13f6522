//! Claims that hold with probability one, decided on the product of the graph with the tableau of the negation.
//!
//! A word has one run in the tableau, so the probability of the negation is positive if and only if a component of the
//! product is accepting and *complete*: no finite path of the graph leads all of its nodes above a state out of it
//! (J.-M. Couvreur, N. Saheb and G. Sutre, "An optimal automata approach to LTL model checking of probabilistic systems",
//! 2003; C. Baier and others, "Markov chains and unambiguous automata", 2016). The same holds for a deterministic
//! automaton.

use std::collections::{BTreeMap, BTreeSet};

use quotient_ir::TemporalClaim;
use quotient_temporal::{Automaton, Letter, Node};

use super::{OracleLimits, Product, Silence, Structure, Tableau};

/// Whether a claim holds on almost all runs; nothing if it is not about that.
pub(super) fn almost_surely(
    structure: &Structure,
    claim: &TemporalClaim,
    letters: &[Letter],
    limits: &OracleLimits,
) -> Result<Option<bool>, Silence> {
    let structure = &infinite(structure);
    match claim {
        TemporalClaim::Linear { pool, formula } => {
            let mut pool = pool.clone();
            let negation = pool.not(*formula);
            let leaves: Vec<_> = pool.atoms(*formula).into_iter().map(|atom| pool.atom(atom)).collect();
            let letter = |state: usize| {
                leaves.iter().enumerate().fold(0, |letter, (bit, leaf)| match pool.node(*leaf) {
                    Node::Atom(atom) => letter | (letters[state] >> atom.0 & 1) << bit,
                    _ => letter,
                })
            };
            let own: Vec<Letter> = (0..letters.len()).map(letter).collect();
            let mut tableau = Tableau::new(&pool, negation, leaves.clone(), &own);
            let product = tableau.product(structure, structure.starts.iter().copied(), limits.nodes)?;
            Ok(Some(!is_positive(&product, structure, limits)?))
        }
        TemporalClaim::Never(automaton) if is_deterministic(automaton) => {
            let letter = |state: usize| {
                let bits = automaton.atoms.iter().enumerate();
                bits.map(|(bit, atom)| (letters[state] >> atom.0 & 1) << bit).sum::<Letter>()
            };
            let starts = structure.starts.iter();
            let starts = starts.flat_map(|&state| automaton.initial.iter().map(move |&inner| (state, inner)));
            let product = Product::build(structure, starts, automaton.all_sets(), limits.nodes, |state, inner, _| {
                let leaving = automaton.leaving(inner).iter();
                let matching = leaving.filter(|transition| transition.cube.contains(letter(state)));
                matching.map(|transition| (transition.to, transition.acceptance)).collect()
            })?;
            Ok(Some(!is_positive(&product, structure, limits)?))
        }
        _ => Ok(None),
    }
}

/// Whether no word has two runs: at each state, at most one transition for each letter.
fn is_deterministic(automaton: &Automaton) -> bool {
    let letters = 0..1u64 << automaton.atoms.len();
    let mut states = 0..automaton.states;
    automaton.initial.len() <= 1
        && states.all(|state| {
            let fits = |letter: u64| automaton.leaving(state).iter().filter(|it| it.cube.contains(letter)).count();
            letters.clone().all(|letter| fits(letter) <= 1)
        })
}

/// The graph without states in which all runs end.
fn infinite(structure: &Structure) -> Structure {
    let mut kept = structure.clone();
    loop {
        let ends: BTreeSet<usize> = (0..kept.arcs.len()).filter(|&state| kept.arcs[state].is_empty()).collect();
        let before: usize = kept.arcs.iter().map(Vec::len).sum();
        kept.arcs.iter_mut().for_each(|arcs| arcs.retain(|arc| !ends.contains(&arc.to)));
        kept.starts.retain(|start| !ends.contains(start));
        if kept.arcs.iter().map(Vec::len).sum::<usize>() == before {
            return kept;
        }
    }
}

/// Whether a product has an accepting and complete component.
fn is_positive<Q>(product: &Product<Q>, structure: &Structure, limits: &OracleLimits) -> Result<bool, Silence> {
    let all: Vec<usize> = (0..product.nodes.len()).collect();
    for component in product.strongly_connected(&all) {
        let inside: BTreeSet<usize> = component.iter().copied().collect();
        let arcs = component.iter().flat_map(|&node| &product.arcs[node]).filter(|(to, ..)| inside.contains(to));
        let mut has_cycle = false;
        let sets = arcs.fold(0, |sets, arc| {
            has_cycle = true;
            sets | arc.2
        });
        if has_cycle && sets == product.sets && is_complete(product, structure, &inside, limits)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether no path of the graph leads all nodes above a state out of a component.
fn is_complete<Q>(
    product: &Product<Q>,
    structure: &Structure,
    inside: &BTreeSet<usize>,
    limits: &OracleLimits,
) -> Result<bool, Silence> {
    let Some(&first) = inside.first() else { return Ok(false) };
    let state = product.nodes[first].0;
    let above: BTreeSet<usize> = inside.iter().copied().filter(|&node| product.nodes[node].0 == state).collect();
    let mut seen = BTreeSet::from([(state, above.clone())]);
    let mut pending = vec![(state, above)];
    while let Some((state, above)) = pending.pop() {
        let mut next: BTreeMap<usize, BTreeSet<usize>> =
            structure.arcs[state].iter().map(|arc| (arc.to, BTreeSet::new())).collect();
        for &(to, ..) in above.iter().flat_map(|&node| &product.arcs[node]).filter(|(to, ..)| inside.contains(to)) {
            next.entry(product.nodes[to].0).or_default().insert(to);
        }
        for (state, above) in next {
            if above.is_empty() {
                return Ok(false);
            }
            if seen.insert((state, above.clone())) {
                pending.push((state, above));
            }
        }
        if seen.len() > limits.nodes {
            return Err(Silence::TooLarge);
        }
    }
    Ok(true)
}
