//! Invariance under stuttering, decided on automata.
//!
//! Two words are stuttering equivalent if repeating letters in both, each finitely often, makes them equal. So a formula is
//! not invariant if and only if some word arises both from a word that satisfies it and from one that violates it (Michaud
//! and Duret-Lutz, Practical stutter-invariance checks for ω-regular languages, 2015). Letters are tried one by one, so
//! this is for few atoms; [`crate::classes::is_stutter_invariant`] looks at the form only.

use crate::automaton::{Automaton, Cube, StateId, Transition, mask};
use crate::formula::{Formula, Formulas};
use crate::translate::{TranslationError, translate};
use rustc_hash::FxHashMap;

/// The most atoms.
const ATOM_LIMIT: usize = 6;

/// Whether an LTL formula is invariant under stuttering; `None` if it has too many atoms to decide.
///
/// # Errors
/// If the formula is not one of LTL, or too large.
pub fn decide_stutter_invariance(pool: &mut Formulas, formula: Formula) -> Result<Option<bool>, TranslationError> {
    if crate::classes::is_stutter_invariant(pool, formula) {
        return Ok(Some(true));
    }
    by_automata(pool, formula)
}

fn by_automata(pool: &mut Formulas, formula: Formula) -> Result<Option<bool>, TranslationError> {
    if pool.atoms(formula).len() > ATOM_LIMIT {
        return Ok(None);
    }
    let opposite = pool.not(formula);
    let (mut accepting, mut rejecting) = (translate(pool, formula)?, translate(pool, opposite)?);
    // Both need all letters, also those of atoms that simplification removed.
    let atoms = pool.atoms(formula);
    for automaton in [&mut accepting, &mut rejecting] {
        let bits: Vec<usize> = automaton
            .atoms
            .iter()
            .map(|atom| atoms.binary_search(atom).expect("simplification adds no atoms"))
            .collect();
        let renamed = |mask: u64| bits.iter().enumerate().map(|(from, to)| (mask >> from & 1) << to).sum();
        for transition in &mut automaton.transitions {
            let Cube { positive, negative } = transition.cube;
            transition.cube = Cube { positive: renamed(positive), negative: renamed(negative) };
        }
        automaton.atoms.clone_from(&atoms);
    }
    Ok(Some(stuttering(&accepting).intersection(&stuttering(&rejecting)).is_empty()))
}

/// The automaton for the words that arise from those of an automaton by repeating letters. A state remembers the letter that
/// was read last and may read it again, which is in no acceptance set.
fn stuttering(automaton: &Automaton) -> Automaton {
    let all = mask(automaton.atoms.len());
    let mut numbers: FxHashMap<(StateId, Option<u64>), StateId> = FxHashMap::default();
    let mut pending: Vec<(StateId, Option<u64>)> = Vec::new();
    let mut number_of = |state: (StateId, Option<u64>), pending: &mut Vec<(StateId, Option<u64>)>| {
        let next = numbers.len() as StateId;
        *numbers.entry(state).or_insert_with(|| {
            pending.push(state);
            next
        })
    };
    let initial = automaton.initial.iter().map(|state| number_of((*state, None), &mut pending)).collect();
    // Without acceptance sets a run that only repeats would be accepting: one set keeps it out.
    let acceptance_sets = automaton.acceptance_sets.max(1);
    let mut transitions = Vec::new();
    let mut done = 0;
    while done < pending.len() {
        let (state, last) = pending[done];
        let from = done as StateId;
        done += 1;
        let only = |letter: u64| Cube { positive: letter, negative: !letter & all };
        if let Some(letter) = last {
            transitions.push(Transition { from, to: from, cube: only(letter), acceptance: 0 });
        }
        for transition in automaton.leaving(state) {
            let acceptance = if automaton.acceptance_sets == 0 { 1 } else { transition.acceptance };
            for letter in (0..=all).filter(|letter| transition.cube.contains(*letter)) {
                let to = number_of((transition.to, Some(letter)), &mut pending);
                transitions.push(Transition { from, to, cube: only(letter), acceptance });
            }
        }
    }
    let mut result = Automaton {
        atoms: automaton.atoms.clone(),
        states: (pending.len() as u32).max(1),
        initial,
        acceptance_sets,
        transitions,
    };
    result.normalise();
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;
    use crate::random::{FormulaShape, Random, random_formula, random_lasso};
    use crate::syntax::parse_plain;

    fn decided(text: &str) -> Option<bool> {
        let mut pool = Formulas::new();
        let formula = parse_plain(&mut pool, text).expect(text);
        decide_stutter_invariance(&mut pool, formula).expect(text)
    }

    #[test]
    fn known_formulas() {
        for (text, expected) in [
            ("X p0", false),
            ("G (p0 -> X p1)", false),
            ("F (p0 & X !p0)", true),
            // Not by their form.
            ("F (p0 & X F !p0 & !X p0)", true),
            ("p0 & X !p0 | p0 & X p0", true),
            ("X F p0 | p0", true),
            ("p0 U (p0 & X (!p0 U p1)) | p0 U (!p0 U p1)", true),
            ("F (p0 & Y p0)", false),
            ("F (p0 & Y !p0)", true),
        ] {
            assert_eq!(decided(text), Some(expected), "{text}");
        }
        assert_eq!(decided("X (p0 & p1 & p2 & p3 & p4 & p5 & p6)"), None);
    }

    #[test]
    fn random_formulas_and_words() {
        let mut random = Random::new(81);
        let (mut invariant, mut refuted) = (0, 0);
        for round in 0..1500 {
            let mut pool = Formulas::new();
            let shape = FormulaShape { past: round % 2 == 0, ..FormulaShape::future(2, 6) };
            let formula = random_formula(&mut pool, &mut random, &shape);
            let by_form = crate::classes::is_stutter_invariant(&mut pool, formula);
            let decided = by_automata(&mut pool, formula).expect("it is small").expect("there are few atoms");
            assert!(decided || !by_form, "{}", plain(&pool, formula));
            let mut changed = false;
            for _ in 0..20 {
                let word = random_lasso(&mut random, 2);
                let mut repeat = |letters: &[u64]| -> Vec<u64> {
                    letters.iter().flat_map(|letter| vec![*letter; 1 + random.below(3)]).collect()
                };
                let stuttered = crate::Lasso { prefix: repeat(&word.prefix), cycle: repeat(&word.cycle) };
                changed |= word.satisfies(&pool, formula) != stuttered.satisfies(&pool, formula);
            }
            assert!(!(changed && decided), "{}", plain(&pool, formula));
            invariant += usize::from(decided);
            refuted += usize::from(changed);
        }
        assert!(invariant > 500 && refuted > 200, "{invariant} {refuted}");
    }
}
