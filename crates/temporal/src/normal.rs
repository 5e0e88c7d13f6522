//! Negation normal form: negations only before atoms.
//!
//! Until and release are dual, and so are since and triggered, the two kinds of yesterday, and the path quantifiers.
//! `X` is its own dual, since words are infinite.

use crate::formula::{Formula, Formulas, Node};
use rustc_hash::FxHashMap;

/// The negation normal form of a formula.
pub fn negation_normal_form(pool: &mut Formulas, formula: Formula) -> Formula {
    both_forms(pool, formula).0
}

/// The negation normal form of the negation of a formula.
pub fn negated(pool: &mut Formulas, formula: Formula) -> Formula {
    both_forms(pool, formula).1
}

/// The normal forms of a formula and of its negation.
pub fn both_forms(pool: &mut Formulas, formula: Formula) -> (Formula, Formula) {
    let mut forms: FxHashMap<Formula, (Formula, Formula)> = FxHashMap::default();
    for part in pool.subformulas(formula) {
        let node = pool.node(part).clone();
        let of = |child: &Formula| forms[child];
        let pair = match &node {
            Node::True => (Formula::TRUE, Formula::FALSE),
            Node::False => (Formula::FALSE, Formula::TRUE),
            Node::Atom(_) => (part, pool.not(part)),
            Node::Not(child) => {
                let (positive, negative) = of(child);
                (negative, positive)
            }
            Node::And(children) => {
                let positive = pool.and(children.iter().map(|child| of(child).0));
                (positive, pool.or(children.iter().map(|child| of(child).1)))
            }
            Node::Or(children) => {
                let positive = pool.or(children.iter().map(|child| of(child).0));
                (positive, pool.and(children.iter().map(|child| of(child).1)))
            }
            Node::Next(child) => (pool.next(of(child).0), pool.next(of(child).1)),
            Node::Until(a, b) => (pool.until(of(a).0, of(b).0), pool.release(of(a).1, of(b).1)),
            Node::Release(a, b) => (pool.release(of(a).0, of(b).0), pool.until(of(a).1, of(b).1)),
            Node::Yesterday(child) => (pool.yesterday(of(child).0), pool.weak_yesterday(of(child).1)),
            Node::WeakYesterday(child) => (pool.weak_yesterday(of(child).0), pool.yesterday(of(child).1)),
            Node::Since(a, b) => (pool.since(of(a).0, of(b).0), pool.triggered(of(a).1, of(b).1)),
            Node::Triggered(a, b) => (pool.triggered(of(a).0, of(b).0), pool.since(of(a).1, of(b).1)),
            Node::Path(quantifier, child) => {
                (pool.path(*quantifier, of(child).0), pool.path(quantifier.dual(), of(child).1))
            }
        };
        forms.insert(part, pair);
    }
    forms[&formula]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{FormulaShape, Random, random_formula, random_lasso};

    #[test]
    fn negations_stand_before_atoms_and_the_meaning_is_kept() {
        let mut random = Random::new(1);
        for _ in 0..500 {
            let mut pool = Formulas::new();
            let formula = random_formula(&mut pool, &mut random, &FormulaShape::with_past(3, 12));
            let (positive, negative) = both_forms(&mut pool, formula);
            for part in pool.subformulas_of_all([positive, negative]) {
                if let Node::Not(child) = pool.node(part) {
                    assert!(matches!(pool.node(*child), Node::Atom(_)));
                }
            }
            for _ in 0..5 {
                let lasso = random_lasso(&mut random, 3);
                let value = lasso.satisfies(&pool, formula);
                assert_eq!(lasso.satisfies(&pool, positive), value);
                assert_eq!(lasso.satisfies(&pool, negative), !value);
            }
        }
    }
}
