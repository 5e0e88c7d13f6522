//! Safety formulas by reachability: finite automata for bad prefixes.
//!
//! A bad prefix of a formula is a finite word that no continuation makes true. If every violation has one, the formula is a
//! safety formula, and to check it means to search for a reachable state at which the automaton accepts (Kupferman and
//! Vardi, Model checking of safety properties, 2001).
//!
//! Two ways to find the automaton. If each accepting run of the automaton of the negation ends in a state that accepts
//! everything, that automaton accepts on entering such a state. Otherwise the automaton of the formula, without its
//! acceptance sets, accepts all words without bad prefixes; if none of these violates the formula, it is a safety formula,
//! and a prefix is bad when no run is left.

use crate::automaton::{Automaton, Components, Cube, StateId, mask};
use crate::formula::{Atom, Formula, Formulas};
use crate::lasso::Letter;
use crate::reduce::{joined, reduce};
use crate::translate::{TranslationError, translate};
use rustc_hash::FxHashMap;

/// A transition of a finite automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiniteTransition {
    /// The state it leaves.
    pub from: StateId,
    /// The state it enters.
    pub to: StateId,
    /// The letters it reads.
    pub cube: Cube,
}

/// An automaton on finite words. Once it accepts a word it accepts all continuations: accepting states have no transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiniteAutomaton {
    /// The atoms that the bits of cubes stand for.
    pub atoms: Vec<Atom>,
    /// The initial states.
    pub initial: Vec<StateId>,
    /// For each state, whether it is accepting.
    pub accepting: Vec<bool>,
    /// The transitions, sorted by the state they leave.
    pub transitions: Vec<FiniteTransition>,
    /// Whether there is one initial state, and for each state that is not accepting and each letter exactly one transition.
    pub deterministic: bool,
}

/// Subset constructions are given up beyond this number of states.
const SUBSET_LIMIT: usize = 10_000;
/// Deterministic automata are minimised up to this number of atoms: all letters are tried.
const MINIMISED_ATOMS: usize = 8;

/// The automaton for the bad prefixes of a formula; `None` if it is not found to be a safety formula.
///
/// The automaton accepts only bad prefixes, and accepts a prefix of every word that violates the formula.
///
/// # Errors
/// If the formula is not one of LTL, or too large.
pub fn bad_prefixes(pool: &mut Formulas, formula: Formula) -> Result<Option<FiniteAutomaton>, TranslationError> {
    let opposite = pool.not(formula);
    let violations = translate(pool, opposite)?;
    if let Some(automaton) = ending_in_true(&violations) {
        return Ok(Some(automaton));
    }
    let mut closure = translate(pool, formula)?;
    closure.acceptance_sets = 0;
    closure.transitions.iter_mut().for_each(|transition| transition.acceptance = 0);
    // Every state of a reduced automaton has an accepting run, so the closure has no dead ends.
    if !closure.intersection(&violations).is_empty() {
        return Ok(None);
    }
    Ok(without_runs(&reduce(&closure)))
}

/// The automaton of a guarantee formula as a finite one, if all its accepting runs end in states that accept everything.
fn ending_in_true(automaton: &Automaton) -> Option<FiniteAutomaton> {
    let all = automaton.all_sets();
    let mut accepting = vec![false; automaton.states as usize];
    for t in &automaton.transitions {
        if t.from == t.to && t.cube == Cube::TRUE && t.acceptance == all {
            accepting[t.from as usize] = true;
        }
    }
    // In every other component some acceptance set is missing, so no run stays there.
    let components = Components::of(automaton);
    let mut sets: Vec<Option<u64>> = vec![None; components.count];
    for t in &automaton.transitions {
        if components.is_inside(t) && !accepting[t.from as usize] {
            *sets[components.of[t.from as usize] as usize].get_or_insert(0) |= t.acceptance;
        }
    }
    if sets.contains(&Some(all)) {
        return None;
    }
    let transitions = automaton
        .transitions
        .iter()
        .filter(|t| !accepting[t.from as usize])
        .map(|t| FiniteTransition { from: t.from, to: t.to, cube: t.cube })
        .collect();
    let mut finite = FiniteAutomaton {
        atoms: automaton.atoms.clone(),
        initial: automaton.initial.clone(),
        accepting,
        transitions,
        deterministic: false,
    };
    finite.normalise();
    Some(finite)
}

/// The deterministic automaton that accepts when no run of an automaton without acceptance sets is left.
fn without_runs(automaton: &Automaton) -> Option<FiniteAutomaton> {
    let mut moves: Vec<Vec<(Cube, StateId)>> = vec![Vec::new(); automaton.states as usize];
    automaton.transitions.iter().for_each(|t| moves[t.from as usize].push((t.cube, t.to)));
    subsets(&automaton.atoms, &automaton.initial, &moves, &|subset| subset.is_empty())
}

/// The subset construction. A subset that accepts has no successors.
fn subsets(
    atoms: &[Atom],
    initial: &[StateId],
    moves: &[Vec<(Cube, StateId)>],
    accepts: &dyn Fn(&[StateId]) -> bool,
) -> Option<FiniteAutomaton> {
    let mut first = initial.to_vec();
    first.sort_unstable();
    first.dedup();
    // All accepting subsets are one state.
    let canonical = |subset: Vec<StateId>| if accepts(&subset) { None } else { Some(subset) };
    let mut numbers: FxHashMap<Option<Vec<StateId>>, StateId> = FxHashMap::default();
    let first = canonical(first);
    let mut states = vec![first.clone()];
    numbers.insert(first, 0);
    let mut transitions = Vec::new();
    let mut done = 0;
    while done < states.len() {
        let from = done as StateId;
        let subset = states[done].clone();
        done += 1;
        let Some(subset) = subset else { continue };
        let options: Vec<(Cube, StateId)> =
            subset.iter().flat_map(|state| moves[*state as usize].iter().copied()).collect();
        let mut targets: FxHashMap<StateId, Vec<Cube>> = FxHashMap::default();
        let mut pending = vec![(Cube::TRUE, options)];
        while let Some((cube, options)) = pending.pop() {
            let known = cube.positive | cube.negative;
            let open = options.iter().fold(0, |open, (label, _)| open | label.positive | label.negative) & !known;
            if open != 0 {
                let bit = open & open.wrapping_neg();
                for literal in [Cube { positive: bit, negative: 0 }, Cube { positive: 0, negative: bit }] {
                    let Some(narrower) = cube.and(literal) else { continue };
                    let rest = options.iter().copied().filter(|(label, _)| label.and(narrower).is_some()).collect();
                    pending.push((narrower, rest));
                }
                continue;
            }
            let mut target: Vec<StateId> = options.iter().map(|(_, to)| *to).collect();
            target.sort_unstable();
            target.dedup();
            let target = canonical(target);
            let to = match numbers.get(&target) {
                Some(number) => *number,
                None => {
                    if states.len() >= SUBSET_LIMIT {
                        return None;
                    }
                    let number = states.len() as StateId;
                    states.push(target.clone());
                    numbers.insert(target, number);
                    number
                }
            };
            targets.entry(to).or_default().push(cube);
        }
        for (to, cubes) in targets {
            transitions.extend(joined(cubes).into_iter().map(|cube| FiniteTransition { from, to, cube }));
        }
    }
    let mut automaton = FiniteAutomaton {
        atoms: atoms.to_vec(),
        initial: vec![0],
        accepting: states.iter().map(Option::is_none).collect(),
        transitions,
        deterministic: true,
    };
    automaton.normalise();
    Some(automaton.minimised())
}

impl FiniteAutomaton {
    fn normalise(&mut self) {
        self.transitions.sort_unstable();
        self.transitions.dedup();
    }
    /// How many states there are.
    pub fn states(&self) -> usize {
        self.accepting.len()
    }
    /// The transitions that leave a state.
    pub fn leaving(&self, state: StateId) -> &[FiniteTransition] {
        let start = self.transitions.partition_point(|transition| transition.from < state);
        let length = self.transitions[start..].partition_point(|transition| transition.from == state);
        &self.transitions[start..start + length]
    }
    /// Whether it accepts a finite word or one of its prefixes. Letters have a bit for each atom's number.
    ///
    /// # Panics
    /// If an atom is above 63.
    pub fn accepts(&self, word: &[Letter]) -> bool {
        let mut current = self.initial.clone();
        let accepting = |states: &[StateId]| states.iter().any(|state| self.accepting[*state as usize]);
        for letter in word {
            if accepting(&current) {
                return true;
            }
            let bits = self
                .atoms
                .iter()
                .enumerate()
                .map(|(bit, Atom(number))| {
                    assert!(*number < 64, "a letter has 64 atoms");
                    (letter >> number & 1) << bit
                })
                .sum();
            let mut next: Vec<StateId> = current
                .iter()
                .flat_map(|state| self.leaving(*state))
                .filter(|transition| transition.cube.contains(bits))
                .map(|transition| transition.to)
                .collect();
            next.sort_unstable();
            next.dedup();
            current = next;
        }
        accepting(&current)
    }
    /// A deterministic automaton for the same words, so that a product with it has no more states than the model has for
    /// each of its own; `None` if it would be too large.
    pub fn determinised(&self) -> Option<Self> {
        if self.deterministic {
            return Some(self.clone());
        }
        let mut moves: Vec<Vec<(Cube, StateId)>> = vec![Vec::new(); self.states()];
        self.transitions.iter().for_each(|t| moves[t.from as usize].push((t.cube, t.to)));
        subsets(&self.atoms, &self.initial, &moves, &|subset| {
            subset.iter().any(|state| self.accepting[*state as usize])
        })
    }
    /// Merges the states of a deterministic automaton that accept the same words (Moore 1956).
    fn minimised(self) -> Self {
        if self.atoms.len() > MINIMISED_ATOMS {
            return self;
        }
        let letters = mask(self.atoms.len()) + 1;
        let successor = |state: usize, letter: u64| {
            self.leaving(state as StateId).iter().find(|t| t.cube.contains(letter)).map(|t| t.to as usize)
        };
        let mut class: Vec<u32> = self.accepting.iter().map(|accepting| u32::from(*accepting)).collect();
        let mut count = 0;
        loop {
            let mut numbers: FxHashMap<(u32, Vec<Option<u32>>), u32> = FxHashMap::default();
            let next: Vec<u32> = (0..self.states())
                .map(|state| {
                    let signature = (0..letters).map(|letter| successor(state, letter).map(|to| class[to])).collect();
                    let number = numbers.len() as u32;
                    *numbers.entry((class[state], signature)).or_insert(number)
                })
                .collect();
            class = next;
            if numbers.len() == count {
                break;
            }
            count = numbers.len();
        }
        let mut accepting = vec![false; count];
        let mut seen = vec![false; count];
        let mut cubes: FxHashMap<(u32, u32), Vec<Cube>> = FxHashMap::default();
        for state in 0..self.states() {
            let number = class[state] as usize;
            accepting[number] |= self.accepting[state];
            if std::mem::replace(&mut seen[number], true) {
                continue;
            }
            for t in self.leaving(state as StateId) {
                cubes.entry((class[state], class[t.to as usize])).or_default().push(t.cube);
            }
        }
        let transitions = cubes
            .into_iter()
            .flat_map(|((from, to), cubes)| {
                joined(cubes).into_iter().map(move |cube| FiniteTransition { from, to, cube })
            })
            .collect();
        let initial = self.initial.iter().map(|state| class[*state as usize]).collect();
        let mut smaller = Self { initial, accepting, transitions, ..self };
        smaller.normalise();
        smaller
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::classes;
    use crate::print::plain;
    use crate::random::{FormulaShape, Random, random_formula, random_lasso};
    use crate::syntax::parse_plain;

    fn of(text: &str) -> Option<FiniteAutomaton> {
        let mut pool = Formulas::new();
        let formula = parse_plain(&mut pool, text).expect(text);
        bad_prefixes(&mut pool, formula).expect(text)
    }

    #[test]
    fn known_safety_formulas() {
        for (text, states) in [
            ("G p0", 2),
            ("G (p0 -> X p1)", 3),
            ("p0 W p1", 3),
            ("G (p0 -> O p1)", 3),
            ("G (p0 -> (!p1 W p2))", 3),
            // Not by its form: G p0 | F false, (F p0) R p1 with p1 -> p0 and the like.
            ("G p0 | (p0 U (p1 & !p1))", 2),
            ("(p0 U p1) | G p0", 3),
        ] {
            let automaton = of(text).unwrap_or_else(|| panic!("{text} is a safety formula"));
            let deterministic = automaton.determinised().expect("it is small");
            // One more state if nothing can be violated any more.
            assert!(deterministic.states() <= states, "{text}: {deterministic:?}");
        }
        for text in ["F p0", "G F p0", "p0 U p1", "G (p0 -> F p1)", "G p0 | F p1"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn prefixes_decide_random_formulas() {
        let mut random = Random::new(51);
        let (mut safe, mut by_form) = (0, 0);
        for round in 0..1500 {
            let mut pool = Formulas::new();
            let shape = FormulaShape { past: round % 2 == 0, ..FormulaShape::future(2, 7) };
            let formula = random_formula(&mut pool, &mut random, &shape);
            let Ok(found) = bad_prefixes(&mut pool, formula) else { continue };
            let text = plain(&pool, formula);
            let Some(automaton) = found else {
                assert!(!classes(&mut pool, formula).safety, "{text} is a safety formula by its form");
                continue;
            };
            safe += 1;
            by_form += usize::from(classes(&mut pool, formula).safety);
            let deterministic = automaton.determinised().expect("it is small");
            for _ in 0..8 {
                let lasso = random_lasso(&mut random, 2);
                // A violation shows after each state of the automaton was seen with each position of the cycle.
                let length = lasso.prefix.len() + lasso.cycle.len() * (deterministic.states() + 1);
                let word: Vec<Letter> = (0..length).map(|position| lasso.letter(position)).collect();
                let violated = !lasso.satisfies(&pool, formula);
                assert_eq!(deterministic.accepts(&word), violated, "{text} on {lasso:?}: {deterministic:?}");
                assert_eq!(automaton.accepts(&word), violated, "{text} on {lasso:?}: {automaton:?}");
            }
        }
        assert!(safe > 600 && by_form > 200 && safe > by_form, "{safe} {by_form}");
    }
}
