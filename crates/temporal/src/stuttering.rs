//! Invariance under stuttering, decided on automata.
//!
//! Two words are stuttering equivalent if repeating letters in both, each finitely often, makes them equal. So a formula is
//! not invariant if and only if some word arises both from a word that satisfies it and from one that violates it (Michaud
//! and Duret-Lutz, Practical stutter-invariance checks for ω-regular languages, 2015). Letters are tried one by one, so
//! this is for few atoms; `form` looks at the form only.

mod form;

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
    if form::is_stutter_invariant(pool, formula) {
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

/// Whether the form of an automaton shows that the words it accepts are closed under stuttering: wherever it reads a letter,
/// it can also read it twice, and the other way round, with the same acceptance sets. A set that is lost when two
/// transitions become one may be that of all transitions after them. If the answer is no, the words may be closed all
/// the same.
fn is_stutter_invariant_by_form(automaton: &Automaton) -> bool {
    if automaton.atoms.len() > ATOM_LIMIT {
        return false;
    }
    let states = automaton.states as usize;
    let mut is_reached = vec![false; states];
    let mut pending = automaton.initial.clone();
    while let Some(state) = pending.pop() {
        if !std::mem::replace(&mut is_reached[state as usize], true) {
            pending.extend(automaton.leaving(state).iter().map(|transition| transition.to));
        }
    }
    // The acceptance sets of all transitions of a state.
    let mut later = vec![automaton.all_sets(); states];
    for transition in &automaton.transitions {
        later[transition.from as usize] &= transition.acceptance;
    }
    (0..=mask(automaton.atoms.len())).all(|letter| {
        let reads = |state: StateId| automaton.leaving(state).iter().filter(move |it| it.cube.contains(letter));
        let firsts = automaton.transitions.iter().filter(|it| is_reached[it.from as usize] && it.cube.contains(letter));
        firsts.into_iter().all(|first| {
            let can_repeat = reads(first.from).any(|one| {
                reads(one.to)
                    .any(|two| two.to == first.to && first.acceptance & !(one.acceptance | two.acceptance) == 0)
            });
            let can_contract = reads(first.to).all(|second| {
                reads(first.from).any(|one| {
                    one.to == second.to
                        && first.acceptance & !one.acceptance == 0
                        && second.acceptance & !(one.acceptance | later[second.to as usize]) == 0
                })
            });
            can_repeat && can_contract
        })
    })
}

/// The most states of an automaton that is decided by the effects of words.
const STATE_LIMIT: u32 = 16;
/// The most effects of words, and sets of states.
const EFFECT_LIMIT: usize = 4096;

/// Whether the words that an automaton accepts are closed under stuttering; `None` if it is too large to decide.
pub fn decide_automaton(automaton: &Automaton) -> Option<bool> {
    if is_stutter_invariant_by_form(automaton) {
        return Some(true);
    }
    let is_small = automaton.states <= STATE_LIMIT && automaton.atoms.len() <= ATOM_LIMIT;
    if !is_small || automaton.acceptance_sets > 1 {
        return None;
    }
    by_effects(automaton)
}

/// A set of states, as bits.
type States = u16;

/// What a word does: for each state the states it leads to, and those it leads to with acceptance.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Effect(Vec<(States, States)>);

fn members(states: States) -> impl Iterator<Item = usize> {
    (0..STATE_LIMIT as usize).filter(move |state| states >> state & 1 == 1)
}

impl Effect {
    fn of_letter(automaton: &Automaton, letter: u64) -> Self {
        let mut rows = vec![(0, 0); automaton.states as usize];
        for transition in automaton.transitions.iter().filter(|it| it.cube.contains(letter)) {
            let (all, accepting) = &mut rows[transition.from as usize];
            *all |= 1 << transition.to;
            if transition.acceptance == automaton.all_sets() {
                *accepting |= 1 << transition.to;
            }
        }
        Self(rows)
    }

    /// The effect of one word after the other.
    fn then(&self, next: &Self) -> Self {
        let row = |&(all, accepting): &(States, States)| {
            let (mut to, mut with_acceptance) = (0, 0);
            for state in members(all) {
                to |= next.0[state].0;
                with_acceptance |= next.0[state].1;
            }
            members(accepting).for_each(|state| with_acceptance |= next.0[state].0);
            (to, with_acceptance)
        };
        Self(self.0.iter().map(row).collect())
    }

    /// Where a set of states leads.
    fn image(&self, states: States) -> States {
        members(states).fold(0, |image, state| image | self.0[state].0)
    }

    /// The states that lead into a set.
    fn before(&self, states: States) -> States {
        let leads = |(state, row): (usize, &(States, States))| States::from(row.0 & states != 0) << state;
        self.0.iter().enumerate().map(leads).fold(0, |all, one| all | one)
    }

    /// The states from which the word, repeated forever, is accepted.
    fn accepted_forever(&self) -> States {
        let mut powers = self.clone();
        loop {
            let more = powers.then(&powers);
            let sum = |(one, other): (&(States, States), &(States, States))| (one.0 | other.0, one.1 | other.1);
            let more = Self(powers.0.iter().zip(&more.0).map(sum).collect());
            if more == powers {
                break;
            }
            powers = more;
        }
        let is_cyclic = |(state, row): (usize, &(States, States))| row.1 & 1 << state;
        let cyclic = powers.0.iter().enumerate().map(is_cyclic).fold(0, |all, one| all | one);
        cyclic | powers.before(cyclic)
    }
}

/// Sets or effects, closed under operations; `None` if there are too many.
fn closed<T: Clone + Eq + std::hash::Hash>(first: Vec<T>, next: impl Fn(&T) -> Vec<T>) -> Option<Vec<T>> {
    let mut known: rustc_hash::FxHashSet<T> = rustc_hash::FxHashSet::default();
    let mut all: Vec<T> = first.into_iter().filter(|one| known.insert(one.clone())).collect();
    let mut done = 0;
    while let Some(one) = all.get(done) {
        done += 1;
        for more in next(one) {
            if known.insert(more.clone()) {
                all.push(more);
            }
        }
        if all.len() > EFFECT_LIMIT {
            return None;
        }
    }
    Some(all)
}

/// A language is closed if a letter and its repetition have the same effect wherever they stand: in the beginning of a word
/// or in a part that is repeated forever (A. Arnold, A syntactic congruence for rational ω-languages, 1985).
fn by_effects(automaton: &Automaton) -> Option<bool> {
    let letters: Vec<Effect> = {
        let all = (0..=mask(automaton.atoms.len())).map(|letter| Effect::of_letter(automaton, letter)).collect();
        closed(all, |_| Vec::new())?
    };
    let words = closed(letters.clone(), |word| letters.iter().map(|letter| word.then(letter)).collect())?;
    let initial = automaton.initial.iter().fold(0, |all, state| all | 1 << state);
    let reached = closed(vec![initial], |&states| letters.iter().map(|letter| letter.image(states)).collect())?;
    let endings = words.iter().map(Effect::accepted_forever).collect();
    let endings = closed(endings, |&states| letters.iter().map(|letter| letter.before(states)).collect())?;
    let is_same = letters.iter().all(|letter| {
        let in_beginning = reached.iter().all(|&states| {
            let once = letter.image(states);
            let twice = letter.image(once);
            endings.iter().all(|ending| (once & ending != 0) == (twice & ending != 0))
        });
        let twice = letter.then(letter);
        in_beginning
            && words.iter().all(|word| {
                let (once, twice) = (letter.then(word).accepted_forever(), twice.then(word).accepted_forever());
                reached.iter().all(|states| (once & states != 0) == (twice & states != 0))
            })
    });
    Some(is_same)
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
            let by_form = form::is_stutter_invariant(&mut pool, formula);
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

    /// Where it is decided that they do, automata of formulas and random ones accept a word and its repetitions alike.
    #[test]
    fn automata_and_words() {
        let mut random = Random::new(7);
        let (mut shown, mut compared, mut of_invariant, mut of_formulas) = (0, 0, 0, 0);
        for round in 0..3000u32 {
            let mut expected = None;
            let automaton = if round % 2 == 0 {
                let mut pool = Formulas::new();
                let formula = random_formula(&mut pool, &mut random, &FormulaShape::future(2, 5));
                expected = by_automata(&mut pool, formula).expect("it is small");
                of_invariant += usize::from(form::is_stutter_invariant(&mut pool, formula));
                translate(&mut pool, formula).expect("it is small")
            } else {
                let states = 1 + random.below(3) as u32;
                let mut transitions = Vec::new();
                for _ in 0..2 + random.below(7) {
                    let (positive, negative) = (random.below(4) as u64, random.below(4) as u64);
                    transitions.push(Transition {
                        from: random.below(states as usize) as u32,
                        to: random.below(states as usize) as u32,
                        cube: Cube { positive, negative: negative & !positive },
                        acceptance: random.below(2) as u64,
                    });
                }
                let atoms = vec![crate::Atom(0), crate::Atom(1)];
                let mut automaton = Automaton { atoms, states, initial: vec![0], acceptance_sets: 1, transitions };
                automaton.normalise();
                automaton
            };
            let by_form = is_stutter_invariant_by_form(&automaton);
            let is_small = automaton.states <= STATE_LIMIT && automaton.acceptance_sets <= 1;
            let decided = is_small.then(|| by_effects(&automaton)).flatten();
            assert!(!(by_form && decided == Some(false)), "{automaton:?}");
            if let (Some(expected), Some(decided)) = (expected, decided) {
                assert_eq!(decided, expected, "{automaton:?}");
                compared += 1;
            }
            if !by_form && decided != Some(true) {
                continue;
            }
            shown += 1;
            of_formulas += usize::from(by_form && round % 2 == 0);
            for _ in 0..20 {
                let word = random_lasso(&mut random, 2);
                let mut repeat = |letters: &[u64]| -> Vec<u64> {
                    letters.iter().flat_map(|letter| vec![*letter; 1 + random.below(3)]).collect()
                };
                let stuttered = crate::Lasso { prefix: repeat(&word.prefix), cycle: repeat(&word.cycle) };
                assert_eq!(automaton.accepts(&word), automaton.accepts(&stuttered), "{automaton:?}");
            }
        }
        assert!(shown > 600 && compared > 600, "{shown} {compared}");
        assert!(of_formulas * 2 > of_invariant, "{of_formulas} {of_invariant}");
    }
}
