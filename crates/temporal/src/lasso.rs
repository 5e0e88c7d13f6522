//! Ultimately periodic words, and formulas evaluated on them without automata.
//!
//! This is the oracle for everything else: each subformula becomes a sequence of truth values with the period of the word,
//! operators of the future by a fixpoint over the cycle, operators of the past by walking forwards. Simple on purpose.

use crate::formula::{Atom, Formula, Formulas, Node};
use rustc_hash::FxHashMap;

/// A letter: the atoms that are true, as bits by their numbers.
pub type Letter = u64;

/// The infinite word that consists of a prefix and then a cycle, repeated forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The letters before the cycle.
    pub prefix: Vec<Letter>,
    /// The letters of the cycle, at least one.
    pub cycle: Vec<Letter>,
}

/// Truth values at all positions: those before the cycle, then one turn of it.
struct Values {
    before: usize,
    all: Vec<bool>,
}

impl Values {
    fn at(&self, position: usize, period: usize) -> bool {
        if position < self.all.len() {
            self.all[position]
        } else {
            self.all[self.before + (position - self.before) % period]
        }
    }
}

impl Lasso {
    /// The letter at a position.
    pub fn letter(&self, position: usize) -> Letter {
        match position.checked_sub(self.prefix.len()) {
            None => self.prefix[position],
            Some(offset) => self.cycle[offset % self.cycle.len()],
        }
    }
    /// Whether a formula of LTL holds on the word.
    ///
    /// # Panics
    /// If the formula has a path quantifier or an atom above 63, or the cycle is empty.
    pub fn satisfies(&self, pool: &Formulas, formula: Formula) -> bool {
        let mut values: FxHashMap<Formula, Values> = FxHashMap::default();
        for part in pool.subformulas(formula) {
            let value = self.evaluate(pool.node(part), &values);
            values.insert(part, value);
        }
        values[&formula].all[0]
    }
    fn evaluate(&self, node: &Node, values: &FxHashMap<Formula, Values>) -> Values {
        let period = self.cycle.len();
        assert!(period > 0, "a cycle has letters");
        let before = {
            let mut before = self.prefix.len();
            node.for_each_child(|child| before = before.max(values[&child].before));
            before
        };
        let pointwise =
            |value: &dyn Fn(usize) -> bool| Values { before, all: (0..before + period).map(value).collect() };
        let at = |child: &Formula, position: usize| values[child].at(position, period);
        match node {
            Node::True => pointwise(&|_| true),
            Node::False => pointwise(&|_| false),
            Node::Atom(Atom(number)) => {
                assert!(*number < 64, "a letter has 64 atoms");
                pointwise(&|position| self.letter(position) >> number & 1 == 1)
            }
            Node::Not(a) => pointwise(&|position| !at(a, position)),
            Node::And(children) => pointwise(&|position| children.iter().all(|child| at(child, position))),
            Node::Or(children) => pointwise(&|position| children.iter().any(|child| at(child, position))),
            Node::Next(a) => pointwise(&|position| at(a, position + 1)),
            Node::Until(a, b) => {
                fixpoint(before, period, false, |position, later| at(b, position) || at(a, position) && later)
            }
            Node::Release(a, b) => {
                fixpoint(before, period, true, |position, later| at(b, position) && (at(a, position) || later))
            }
            // What was true before has the period of the word only after one turn of the cycle.
            Node::Yesterday(a) => walk(before + period, period, false, |position, _| {
                position.checked_sub(1).is_some_and(|previous| at(a, previous))
            }),
            Node::WeakYesterday(a) => walk(before + period, period, true, |position, _| {
                position.checked_sub(1).is_none_or(|previous| at(a, previous))
            }),
            Node::Since(a, b) => {
                walk(before + period, period, false, |position, earlier| at(b, position) || at(a, position) && earlier)
            }
            Node::Triggered(a, b) => {
                walk(before + period, period, true, |position, earlier| at(b, position) && (at(a, position) || earlier))
            }
            Node::Path(..) => panic!("a word does not evaluate path quantifiers"),
        }
    }
}

/// The least (from false) or greatest (from true) solution of an equation over the value at the next position.
fn fixpoint(before: usize, period: usize, start: bool, value: impl Fn(usize, bool) -> bool) -> Values {
    let mut all = vec![start; before + period];
    loop {
        let mut changed = false;
        for position in (0..all.len()).rev() {
            let later = if position + 1 == all.len() { all[before] } else { all[position + 1] };
            let new = value(position, later);
            changed |= new != all[position];
            all[position] = new;
        }
        if !changed {
            return Values { before, all };
        }
    }
}

/// The values from the first position onwards, each from the one before it. A turn of the cycle maps the value before it
/// to the value after it monotonically, so the values repeat from the second turn on.
fn walk(before: usize, period: usize, start: bool, value: impl Fn(usize, bool) -> bool) -> Values {
    let mut earlier = start;
    let all = (0..before + period)
        .map(|position| {
            earlier = value(position, earlier);
            earlier
        })
        .collect();
    Values { before, all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, prefix: &[Letter], cycle: &[Letter]) -> bool {
        let mut pool = Formulas::new();
        let formula = crate::syntax::parse_plain(&mut pool, text).expect(text);
        Lasso { prefix: prefix.to_vec(), cycle: cycle.to_vec() }.satisfies(&pool, formula)
    }

    #[test]
    fn operators_of_the_future() {
        // p0 is bit 0, p1 is bit 1.
        assert!(holds("p0 U p1", &[1, 1], &[2, 0]));
        assert!(!holds("p0 U p1", &[1, 0], &[2]));
        assert!(!holds("p0 U p1", &[], &[1]));
        assert!(holds("p0 W p1", &[], &[1]));
        assert!(holds("p0 R p1", &[2, 2, 3], &[0]));
        assert!(!holds("p0 M p1", &[], &[2]));
        assert!(holds("G F p0", &[0], &[0, 1]));
        assert!(!holds("F G p0", &[1], &[0, 1]));
        assert!(holds("X X p0", &[0], &[0, 1]));
    }

    #[test]
    fn operators_of_the_past() {
        assert!(!holds("Y true", &[], &[0]));
        assert!(holds("Z false", &[], &[0]));
        assert!(holds("X Y p0", &[1], &[0]));
        assert!(holds("G (p1 -> O p0)", &[1, 0], &[2]));
        assert!(!holds("G (p1 -> O p0)", &[2, 1], &[2]));
        assert!(holds("X X (p0 S p1)", &[2, 1], &[1]));
        assert!(!holds("X X (p0 S p1)", &[2, 0], &[1]));
        assert!(holds("G F (Y p0)", &[], &[1, 0]));
        // True from the second turn of the cycle on.
        assert!(holds("F G O p0", &[], &[0, 1]));
        assert!(!holds("G O p0", &[], &[0, 1]));
        assert!(holds("H p0 & F ! H p0", &[1], &[0]));
        assert!(holds("F (p1 & H (p1 -> Z H !p1))", &[0, 0, 2], &[2]));
    }
}
