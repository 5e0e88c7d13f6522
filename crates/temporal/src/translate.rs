//! LTL with past to generalised Büchi automata with acceptance on transitions.
//!
//! An on-the-fly tableau (Gerth, Peled, Vardi, Wolper 1995) with acceptance on transitions (Couvreur, On-the-fly
//! verification of linear temporal logic, 1999). A state is a set of formulas that must hold from the next position on. To
//! expand it, the conjunction is brought to a disjunction of terms: literals for now, formulas for the next position, and
//! promises, the untils that were put off. A term becomes a transition, in the acceptance set of each until that it does
//! not promise. A term with fewer literals, formulas and promises than another replaces it.
//!
//! The past is a memory beside the obligations: a bit for each formula `f` under `Y`, `Z`, `S` or `T` says whether `f` held
//! at the previous position. A transition asserts `f` and sets the bit, or asserts its negation and clears it. For `f`
//! without future this is deterministic. Only bits that the obligations can ask for are kept. The bit `INITIAL` says
//! that there is no previous position.

use crate::automaton::{Automaton, Cube, StateId, Transition, mask};
use crate::formula::{Atom, Formula, Formulas, Node};
use crate::normal::{both_forms, negation_normal_form};
use crate::reduce::reduce;
use crate::simplify::simplify;
use rustc_hash::{FxHashMap, FxHashSet};

/// The memory bit of the first position.
const INITIAL: u64 = 1 << 63;

/// Limits and parts of a translation.
#[derive(Clone, Copy, Debug)]
pub struct TranslationOptions {
    /// Whether the formula is simplified first.
    pub simplify: bool,
    /// Whether the automaton is reduced.
    pub reduce: bool,
    /// The most states before reduction.
    pub state_limit: usize,
    /// The most terms of one state.
    pub term_limit: usize,
}

impl Default for TranslationOptions {
    fn default() -> Self {
        Self { simplify: true, reduce: true, state_limit: 100_000, term_limit: 20_000 }
    }
}

/// Why a formula has no automaton here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslationError {
    /// The formula is not one of LTL.
    #[error("the formula has path quantifiers; only formulas of LTL have automata")]
    PathQuantifier,
    /// Letters have 64 bits.
    #[error("the formula has {0} atoms; at most 64 are supported")]
    TooManyAtoms(usize),
    /// Acceptance sets are 64 bits.
    #[error("the formula has {0} until operators; at most 64 are supported")]
    TooManyUntils(usize),
    /// Memories are 63 bits.
    #[error("the formula has {0} different operands of past operators; at most 63 are supported")]
    TooMuchPast(usize),
    /// A limit of the options was reached.
    #[error("the automaton of the formula is too large")]
    TooLarge,
}

/// The automaton of an LTL formula, with the default options.
///
/// # Errors
/// If the formula is not one of LTL, or too large.
pub fn translate(pool: &mut Formulas, formula: Formula) -> Result<Automaton, TranslationError> {
    translate_with(pool, formula, &TranslationOptions::default())
}

/// The automaton of an LTL formula.
///
/// # Errors
/// If the formula is not one of LTL, or too large.
pub fn translate_with(
    pool: &mut Formulas,
    formula: Formula,
    options: &TranslationOptions,
) -> Result<Automaton, TranslationError> {
    if pool.has_path_quantifier(formula) {
        return Err(TranslationError::PathQuantifier);
    }
    let formula = if options.simplify { simplify(pool, formula) } else { negation_normal_form(pool, formula) };
    let tableau = Tableau::new(pool, formula, options)?;
    let automaton = tableau.automaton(pool, formula)?;
    Ok(if options.reduce { reduce(&automaton) } else { automaton })
}

/// One way to make a formula true.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Term {
    /// Literals over the atoms.
    cube: Cube,
    /// Literals over the memory.
    memory: Cube,
    /// What must hold from the next position on, in the order of numbers.
    next: Vec<Formula>,
    /// The untils that are put off, as bits.
    promises: u64,
}

impl Term {
    const TRUE: Self = Self { cube: Cube::TRUE, memory: Cube::TRUE, next: Vec::new(), promises: 0 };

    fn and(&self, other: &Self) -> Option<Self> {
        let (cube, memory) = (self.cube.and(other.cube)?, self.memory.and(other.memory)?);
        let mut next = self.next.clone();
        next.extend_from_slice(&other.next);
        next.sort_unstable();
        next.dedup();
        Some(Self { cube, memory, next, promises: self.promises | other.promises })
    }
    /// Whether whatever makes the other term true makes this one true.
    fn replaces(&self, other: &Self) -> bool {
        other.cube.implies(self.cube)
            && other.memory.implies(self.memory)
            && self.promises & !other.promises == 0
            && self.next.iter().all(|formula| other.next.binary_search(formula).is_ok())
    }
}

/// A transition to a set of obligations with a memory.
struct Step {
    cube: Cube,
    promises: u64,
    next: Vec<Formula>,
    memory: u64,
}

/// Drops terms that others replace.
fn prune(mut terms: Vec<Term>) -> Vec<Term> {
    // A term can be replaced only by one with at most as many conditions.
    terms.sort_by_key(|term| {
        (term.cube.literals() + term.memory.literals() + term.promises.count_ones()) as usize + term.next.len()
    });
    let mut kept: Vec<Term> = Vec::with_capacity(terms.len());
    for term in terms {
        if !kept.iter().any(|other| other.replaces(&term)) {
            kept.push(term);
        }
    }
    kept
}

struct Tableau<'a> {
    options: &'a TranslationOptions,
    atoms: Vec<Atom>,
    terms: FxHashMap<Formula, Vec<Term>>,
    /// The memory bits that a formula may ask for, now or later.
    asks: FxHashMap<Formula, u64>,
    /// The formulas of the memory bits, and their negations.
    remembered: Vec<(Formula, Formula)>,
    acceptance_sets: u32,
}

impl<'a> Tableau<'a> {
    fn new(pool: &mut Formulas, formula: Formula, options: &'a TranslationOptions) -> Result<Self, TranslationError> {
        let mut remembered: Vec<(Formula, Formula)> = Vec::new();
        let mut bits: FxHashMap<Formula, (u64, bool)> = FxHashMap::default();
        let mut closure: FxHashSet<Formula> = FxHashSet::default();
        let mut pending = vec![formula];
        while let Some(root) = pending.pop() {
            for part in pool.subformulas(root) {
                if !closure.insert(part) {
                    continue;
                }
                let operand = match pool.node(part) {
                    Node::Yesterday(a) | Node::WeakYesterday(a) => *a,
                    Node::Since(..) | Node::Triggered(..) => part,
                    _ => continue,
                };
                if bits.contains_key(&operand) || matches!(pool.node(operand), Node::True | Node::False) {
                    continue;
                }
                let (_, negation) = both_forms(pool, operand);
                let bit = remembered.len();
                if bit >= 63 {
                    return Err(TranslationError::TooMuchPast(bit + 1));
                }
                bits.insert(operand, (1 << bit, true));
                bits.insert(negation, (1 << bit, false));
                remembered.push((operand, negation));
                pending.extend([operand, negation]);
            }
        }
        let mut closure: Vec<Formula> = closure.into_iter().collect();
        closure.sort_unstable();
        let mut atoms: Vec<Atom> = closure
            .iter()
            .filter_map(|part| match pool.node(*part) {
                Node::Atom(atom) => Some(*atom),
                _ => None,
            })
            .collect();
        atoms.sort_unstable();
        if atoms.len() > 64 {
            return Err(TranslationError::TooManyAtoms(atoms.len()));
        }
        let untils: FxHashMap<Formula, u32> = closure
            .iter()
            .filter(|part| matches!(pool.node(**part), Node::Until(..)))
            .enumerate()
            .map(|(bit, part)| (*part, bit as u32))
            .collect();
        if untils.len() > 64 {
            return Err(TranslationError::TooManyUntils(untils.len()));
        }
        let mut tableau = Self {
            options,
            atoms,
            terms: FxHashMap::default(),
            asks: FxHashMap::default(),
            remembered,
            acceptance_sets: untils.len() as u32,
        };
        for part in closure {
            let asks = tableau.asks_of(pool, part, &bits);
            tableau.asks.insert(part, asks);
            let terms = tableau.terms_of(pool, part, &bits, &untils)?;
            tableau.terms.insert(part, terms);
        }
        Ok(tableau)
    }

    /// The terms that say that a formula held at the previous position.
    fn previous(operand: Formula, bits: &FxHashMap<Formula, (u64, bool)>, weak: bool) -> Vec<Term> {
        let when = |positive: u64, negative: u64| Term { memory: Cube { positive, negative }, ..Term::TRUE };
        // At the first position all other bits are 0.
        match (bits.get(&operand), weak) {
            (Some((bit, true)), false) => vec![when(*bit, 0)],
            (Some((bit, false)), false) => vec![when(0, bit | INITIAL)],
            (Some((bit, true)), true) => vec![when(INITIAL, 0), when(*bit, 0)],
            (Some((bit, false)), true) => vec![when(0, *bit)],
            // Constants are not remembered; the others were folded away.
            (None, false) => vec![when(0, INITIAL)],
            (None, true) => vec![when(INITIAL, 0)],
        }
    }

    fn asks_of(&self, pool: &Formulas, part: Formula, bits: &FxHashMap<Formula, (u64, bool)>) -> u64 {
        let node = pool.node(part);
        let mut asks = match node {
            Node::Yesterday(operand) => Some((*operand, false)),
            Node::WeakYesterday(operand) => Some((*operand, true)),
            Node::Since(..) => Some((part, false)),
            Node::Triggered(..) => Some((part, true)),
            _ => None,
        }
        .map_or(0, |(operand, weak)| {
            Self::previous(operand, bits, weak)
                .iter()
                .fold(0, |asks, term| asks | term.memory.positive | term.memory.negative)
        });
        node.for_each_child(|child| asks |= self.asks[&child]);
        asks
    }

    fn terms_of(
        &self,
        pool: &Formulas,
        part: Formula,
        bits: &FxHashMap<Formula, (u64, bool)>,
        untils: &FxHashMap<Formula, u32>,
    ) -> Result<Vec<Term>, TranslationError> {
        let of = |formula: &Formula| self.terms[formula].as_slice();
        let literal = |atom: &Atom| 1_u64 << self.atoms.binary_search(atom).expect("the closure has the atom");
        let terms = match pool.node(part) {
            Node::True => vec![Term::TRUE],
            Node::False => Vec::new(),
            Node::Atom(atom) => vec![Term { cube: Cube { positive: literal(atom), negative: 0 }, ..Term::TRUE }],
            Node::Not(child) => match pool.node(*child) {
                Node::Atom(atom) => vec![Term { cube: Cube { positive: 0, negative: literal(atom) }, ..Term::TRUE }],
                _ => unreachable!("the formula is in negation normal form"),
            },
            Node::And(children) => {
                let mut all = vec![Term::TRUE];
                for child in children {
                    all = self.product(&all, of(child))?;
                }
                all
            }
            Node::Or(children) => prune(children.iter().flat_map(|child| of(child).iter().cloned()).collect()),
            Node::Next(child) => vec![Term { next: vec![*child], ..Term::TRUE }],
            Node::Until(a, b) => {
                let later = Term { next: vec![part], promises: 1 << untils[&part], ..Term::TRUE };
                let mut all = of(b).to_vec();
                all.extend(self.product(of(a), &[later])?);
                prune(all)
            }
            Node::Release(a, b) => {
                let mut all = of(a).to_vec();
                all.push(Term { next: vec![part], ..Term::TRUE });
                self.product(of(b), &all)?
            }
            Node::Yesterday(a) => Self::previous(*a, bits, false),
            Node::WeakYesterday(a) => Self::previous(*a, bits, true),
            Node::Since(a, b) => {
                let mut all = of(b).to_vec();
                all.extend(self.product(of(a), &Self::previous(part, bits, false))?);
                prune(all)
            }
            Node::Triggered(a, b) => {
                let mut all = of(a).to_vec();
                all.extend(Self::previous(part, bits, true));
                self.product(of(b), &all)?
            }
            Node::Path(..) => unreachable!("only LTL is translated"),
        };
        Ok(terms)
    }

    fn product(&self, left: &[Term], right: &[Term]) -> Result<Vec<Term>, TranslationError> {
        // Most terms of a product are dropped again; those that stay are compared with all others.
        if left.len().saturating_mul(right.len()) > self.options.term_limit.saturating_mul(10) {
            return Err(TranslationError::TooLarge);
        }
        let terms = prune(left.iter().flat_map(|a| right.iter().filter_map(|b| a.and(b))).collect());
        if terms.len() > self.options.term_limit { Err(TranslationError::TooLarge) } else { Ok(terms) }
    }

    /// The terms of a formula for a known memory.
    fn terms_with(&self, formula: Formula, memory: u64) -> Vec<Term> {
        self.terms[&formula]
            .iter()
            .filter(|term| term.memory.contains(memory))
            .map(|term| Term { memory: Cube::TRUE, ..term.clone() })
            .collect()
    }

    fn asked_by(&self, obligations: &[Formula]) -> u64 {
        obligations.iter().fold(0, |asks, formula| asks | self.asks[formula])
    }

    /// The transitions from a state.
    fn expand(&self, pool: &Formulas, obligations: &[Formula], memory: u64) -> Result<Vec<Step>, TranslationError> {
        let mut terms = vec![Term::TRUE];
        for formula in obligations {
            terms = self.product(&terms, &self.terms_with(*formula, memory))?;
        }
        // What the next obligations ask for is decided now, which may add obligations.
        let mut done: Vec<Step> = Vec::new();
        let mut pending: Vec<(Term, u64, u64)> = terms.into_iter().map(|term| (term, 0, 0)).collect();
        while let Some((term, decided, next_memory)) = pending.pop() {
            let Some(next) = obligations_of(pool, &term.next) else { continue };
            let open = self.asked_by(&next) & !INITIAL & !decided;
            if open == 0 {
                done.push(Step { cube: term.cube, promises: term.promises, next, memory: next_memory });
                if done.len() > self.options.term_limit {
                    return Err(TranslationError::TooLarge);
                }
                continue;
            }
            let bit = open.trailing_zeros();
            let (formula, negation) = self.remembered[bit as usize];
            for (asserted, value) in [(formula, 1_u64 << bit), (negation, 0)] {
                for choice in self.terms_with(asserted, memory) {
                    if let Some(both) = term.and(&choice) {
                        pending.push((both, decided | 1 << bit, next_memory | value));
                    }
                }
            }
        }
        Ok(done)
    }

    fn automaton(&self, pool: &Formulas, formula: Formula) -> Result<Automaton, TranslationError> {
        let Some(first) = obligations_of(pool, &[formula]) else {
            return Ok(Automaton::empty(self.atoms.clone()));
        };
        let mut numbers: FxHashMap<(Vec<Formula>, u64), StateId> = FxHashMap::default();
        let first_memory = INITIAL & self.asked_by(&first);
        let mut states = vec![(first.clone(), first_memory)];
        numbers.insert((first, first_memory), 0);
        let mut transitions = Vec::new();
        let all = mask(self.acceptance_sets as usize);
        let mut done = 0;
        while done < states.len() {
            let (obligations, memory) = states[done].clone();
            let from = done as StateId;
            done += 1;
            for Step { cube, promises, next, memory } in self.expand(pool, &obligations, memory)? {
                let key = (next, memory);
                let to = match numbers.get(&key) {
                    Some(number) => *number,
                    None => {
                        let number = states.len() as StateId;
                        if states.len() >= self.options.state_limit {
                            return Err(TranslationError::TooLarge);
                        }
                        states.push(key.clone());
                        numbers.insert(key, number);
                        number
                    }
                };
                transitions.push(Transition { from, to, cube, acceptance: all & !promises });
            }
        }
        let mut automaton = Automaton {
            atoms: self.atoms.clone(),
            states: states.len() as u32,
            initial: vec![0],
            acceptance_sets: self.acceptance_sets,
            transitions,
        };
        automaton.normalise();
        Ok(automaton)
    }
}

/// The conjunction of formulas as obligations: conjunctions are split, and what the expansion of another obligation
/// asserts anyway is dropped (`b` beside `a R b`), which leaves the terms the same. `None` if one is false.
fn obligations_of(pool: &Formulas, formulas: &[Formula]) -> Option<Vec<Formula>> {
    let mut obligations: Vec<Formula> = Vec::new();
    for formula in formulas {
        match pool.node(*formula) {
            Node::True => {}
            Node::False => return None,
            Node::And(children) => obligations.extend_from_slice(children),
            _ => obligations.push(*formula),
        }
    }
    obligations.sort_unstable();
    obligations.dedup();
    // What is asserted has a smaller number than what asserts it.
    let mut asserted: FxHashSet<Formula> = FxHashSet::default();
    for formula in &obligations {
        let mut current = *formula;
        while let Node::Release(_, b) = pool.node(current) {
            current = *b;
            asserted.insert(current);
            if let Node::And(children) = pool.node(current) {
                asserted.extend(children.iter().copied());
            }
        }
    }
    obligations.retain(|formula| !asserted.contains(formula));
    Some(obligations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;
    use crate::random::{FormulaShape, Random, random_formula, random_lasso};
    use crate::syntax::parse_plain;

    const RAW: TranslationOptions =
        TranslationOptions { simplify: false, reduce: false, state_limit: 100_000, term_limit: 20_000 };

    fn compare(shape: &FormulaShape, seed: u64, formulas: usize) {
        let mut random = Random::new(seed);
        for _ in 0..formulas {
            let mut pool = Formulas::new();
            let formula = random_formula(&mut pool, &mut random, shape);
            let raw = match translate_with(&mut pool, formula, &RAW) {
                Ok(raw) => raw,
                Err(TranslationError::TooLarge) => continue,
                Err(error) => panic!("{error}"),
            };
            let reduced = translate(&mut pool, formula).expect("it is smaller");
            for _ in 0..8 {
                let lasso = random_lasso(&mut random, shape.atoms);
                let expected = lasso.satisfies(&pool, formula);
                let text = plain(&pool, formula);
                assert_eq!(raw.accepts(&lasso), expected, "raw {text} on {lasso:?}");
                assert_eq!(reduced.accepts(&lasso), expected, "reduced {text} on {lasso:?}");
            }
        }
    }

    #[test]
    fn automata_agree_with_the_evaluator() {
        compare(&FormulaShape::future(2, 7), 41, 600);
        compare(&FormulaShape::future(3, 11), 42, 200);
    }

    #[test]
    fn automata_agree_with_the_evaluator_on_the_past() {
        compare(&FormulaShape::with_past(2, 6), 43, 600);
        compare(&FormulaShape::with_past(2, 9), 44, 200);
    }

    #[test]
    fn sizes_of_well_known_formulas() {
        for (text, states, sets) in [
            ("G F p0", 1, 1),
            ("G F p0 & G F p1", 1, 2),
            ("F G p0", 2, 1),
            ("G (p0 -> F p1)", 2, 1),
            ("p0 U p1", 2, 1),
            ("G p0", 1, 0),
            ("F p0", 2, 1),
            ("p0 R p1", 2, 0),
            ("X X p0", 4, 0),
            ("G (p0 -> O p1)", 2, 0),
            ("true", 1, 0),
            ("false", 1, 0),
        ] {
            let mut pool = Formulas::new();
            let formula = parse_plain(&mut pool, text).expect(text);
            let automaton = translate(&mut pool, formula).expect(text);
            assert_eq!((automaton.states, automaton.acceptance_sets), (states, sets), "{text}: {automaton:?}");
        }
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let mut pool = Formulas::new();
        let paths = parse_plain(&mut pool, "AG p0").expect("a formula");
        assert_eq!(translate(&mut pool, paths), Err(TranslationError::PathQuantifier));
        let atoms: Vec<Formula> = (0..65).map(|number| pool.atom(Atom(number))).collect();
        let many = pool.and(atoms.clone());
        assert_eq!(translate(&mut pool, many), Err(TranslationError::TooManyAtoms(65)));
        let untils: Vec<Formula> = atoms[..60].iter().map(|atom| pool.eventually(*atom)).collect();
        let many = pool.and(untils);
        assert_eq!(translate(&mut pool, many), Err(TranslationError::TooLarge));
        let remembered: Vec<Formula> = atoms[..64].iter().map(|atom| pool.once(*atom)).collect();
        let many = pool.and(remembered);
        assert!(matches!(translate(&mut pool, many), Err(TranslationError::TooMuchPast(_))));
    }
}
