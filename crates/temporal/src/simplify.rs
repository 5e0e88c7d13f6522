//! Simplification of formulas by rules that hold at every position of every word.
//!
//! Sources: Etessami and Holzmann, Optimizing Büchi automata (2000), for formulas that are eventual or universal; Somenzi
//! and Bloem, Efficient Büchi automata from LTL formulae (2000), for implication by syntax. The rules for the past are
//! their mirror images where those hold; position 0 has no mirror image. All are tested on random words.

use crate::formula::{Formula, Formulas, Node};
use crate::normal::{both_forms, negation_normal_form};
use rustc_hash::FxHashMap;

/// How deeply implication is looked for.
const IMPLICATION_DEPTH: u32 = 40;
/// Parts of longer conjunctions and disjunctions are not compared with each other.
const PART_LIMIT: usize = 100;
/// How often all rules are applied.
const ROUNDS: usize = 8;

/// An equivalent formula in negation normal form, usually smaller.
pub fn simplify(pool: &mut Formulas, formula: Formula) -> Formula {
    let mut current = negation_normal_form(pool, formula);
    let mut rules = Rules::default();
    for _ in 0..ROUNDS {
        let next = pool.rebuild(current, |pool, node, children| rules.apply(pool, node, children));
        if next == current {
            break;
        }
        current = next;
    }
    current
}

/// How the truth of a formula at a position decides it at others of the same word.
#[derive(Clone, Copy, Default)]
struct Persistence {
    /// If it holds at the next position, it holds here.
    eventual: bool,
    /// If it holds here, it holds at the next position.
    universal: bool,
}

#[derive(Default)]
struct Rules {
    persistence: FxHashMap<Formula, Persistence>,
    implications: FxHashMap<(Formula, Formula), bool>,
    negations: FxHashMap<Formula, Formula>,
}

impl Rules {
    fn apply(&mut self, pool: &mut Formulas, node: &Node, children: &[Formula]) -> Formula {
        match node {
            Node::And(_) => self.connective(pool, children, true),
            Node::Or(_) => self.connective(pool, children, false),
            Node::Next(_) => self.next(pool, children[0]),
            Node::Until(..) => self.until(pool, children[0], children[1]),
            Node::Release(..) => self.release(pool, children[0], children[1]),
            Node::Since(..) => self.since(pool, children[0], children[1]),
            Node::Triggered(..) => self.triggered(pool, children[0], children[1]),
            _ => pool.with_children(node, children),
        }
    }

    fn next(&mut self, pool: &mut Formulas, a: Formula) -> Formula {
        let Persistence { eventual, universal } = self.persistence(pool, a);
        if eventual && universal { a } else { pool.next(a) }
    }

    fn until(&mut self, pool: &mut Formulas, a: Formula, b: Formula) -> Formula {
        if self.persistence(pool, b).eventual || self.implies(pool, a, b) {
            return b;
        }
        // a U (c & d), where d is the same at all positions
        if let Node::And(parts) = pool.node(b)
            && let Some((same, rest)) = self.split_constant(pool, parts)
        {
            let rest = pool.and(rest);
            let rest = self.until(pool, a, rest);
            return pool.and(same.into_iter().chain([rest]));
        }
        match (pool.node(a).clone(), pool.node(b).clone()) {
            // X a U X b, F X b
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.until(pool, a, b);
                return self.next(pool, inner);
            }
            (Node::True, Node::Next(b)) => {
                let inner = self.until(pool, Formula::TRUE, b);
                return self.next(pool, inner);
            }
            // a U (c U d)
            (_, Node::Until(c, d)) => {
                if self.implies(pool, a, c) {
                    return b;
                }
                if self.implies(pool, c, a) {
                    return self.until(pool, a, d);
                }
            }
            // (c U b) U b
            (Node::Until(_, d), _) if d == b => return a,
            // (c | d) U b, where d implies b
            (Node::Or(parts), _) => {
                let kept: Vec<Formula> = parts.iter().copied().filter(|part| !self.implies(pool, *part, b)).collect();
                if kept.len() < parts.len() {
                    let kept = pool.or(kept);
                    return self.until(pool, kept, b);
                }
            }
            // (c & !b) U b
            (Node::And(parts), _) => {
                let opposite = pool.not(b);
                if parts.contains(&opposite) {
                    let kept = pool.and(parts.iter().copied().filter(|part| *part != opposite));
                    return self.until(pool, kept, b);
                }
            }
            _ => {
                if pool.not(b) == a {
                    return self.until(pool, Formula::TRUE, b);
                }
            }
        }
        pool.until(a, b)
    }

    /// The parts that are the same at all positions, and the others; `None` if there are none of the first sort.
    fn split_constant(&mut self, pool: &Formulas, parts: &[Formula]) -> Option<(Vec<Formula>, Vec<Formula>)> {
        let (same, rest): (Vec<Formula>, Vec<Formula>) = parts.iter().copied().partition(|part| {
            let Persistence { eventual, universal } = self.persistence(pool, *part);
            eventual && universal
        });
        (!same.is_empty()).then_some((same, rest))
    }

    fn release(&mut self, pool: &mut Formulas, a: Formula, b: Formula) -> Formula {
        if self.persistence(pool, b).universal || self.implies(pool, b, a) {
            return b;
        }
        // a R (c | d), where d is the same at all positions
        if let Node::Or(parts) = pool.node(b)
            && let Some((same, rest)) = self.split_constant(pool, parts)
        {
            let rest = pool.or(rest);
            let rest = self.release(pool, a, rest);
            return pool.or(same.into_iter().chain([rest]));
        }
        match (pool.node(a).clone(), pool.node(b).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.release(pool, a, b);
                return self.next(pool, inner);
            }
            (Node::False, Node::Next(b)) => {
                let inner = self.release(pool, Formula::FALSE, b);
                return self.next(pool, inner);
            }
            // a R (c R d)
            (_, Node::Release(c, d)) => {
                if self.implies(pool, c, a) {
                    return b;
                }
                if self.implies(pool, a, c) {
                    return self.release(pool, a, d);
                }
            }
            (Node::Release(_, d), _) if d == b => return a,
            // (c & d) R b, where b implies d
            (Node::And(parts), _) => {
                let kept: Vec<Formula> = parts.iter().copied().filter(|part| !self.implies(pool, b, *part)).collect();
                if kept.len() < parts.len() {
                    let kept = pool.and(kept);
                    return self.release(pool, kept, b);
                }
            }
            // (c | !b) R b
            (Node::Or(parts), _) => {
                let opposite = pool.not(b);
                if parts.contains(&opposite) {
                    let kept = pool.or(parts.iter().copied().filter(|part| *part != opposite));
                    return self.release(pool, kept, b);
                }
            }
            _ => {
                if pool.not(b) == a {
                    return self.release(pool, Formula::FALSE, b);
                }
            }
        }
        pool.release(a, b)
    }

    fn since(&mut self, pool: &mut Formulas, a: Formula, b: Formula) -> Formula {
        if self.persistence(pool, b).universal || self.implies(pool, a, b) {
            return b;
        }
        match (pool.node(a).clone(), pool.node(b).clone()) {
            (_, Node::Since(c, d)) => {
                if self.implies(pool, a, c) {
                    return b;
                }
                if self.implies(pool, c, a) {
                    return self.since(pool, a, d);
                }
            }
            (Node::Since(_, d), _) if d == b => return a,
            (Node::Or(parts), _) => {
                let kept: Vec<Formula> = parts.iter().copied().filter(|part| !self.implies(pool, *part, b)).collect();
                if kept.len() < parts.len() {
                    let kept = pool.or(kept);
                    return self.since(pool, kept, b);
                }
            }
            _ => {}
        }
        pool.since(a, b)
    }

    fn triggered(&mut self, pool: &mut Formulas, a: Formula, b: Formula) -> Formula {
        if self.persistence(pool, b).eventual || self.implies(pool, b, a) {
            return b;
        }
        match (pool.node(a).clone(), pool.node(b).clone()) {
            (_, Node::Triggered(c, d)) => {
                if self.implies(pool, c, a) {
                    return b;
                }
                if self.implies(pool, a, c) {
                    return self.triggered(pool, a, d);
                }
            }
            (Node::Triggered(_, d), _) if d == b => return a,
            (Node::And(parts), _) => {
                let kept: Vec<Formula> = parts.iter().copied().filter(|part| !self.implies(pool, b, *part)).collect();
                if kept.len() < parts.len() {
                    let kept = pool.and(kept);
                    return self.triggered(pool, kept, b);
                }
            }
            _ => {}
        }
        pool.triggered(a, b)
    }

    /// A conjunction or disjunction: parts with the same operator are joined, parts that others decide are dropped.
    fn connective(&mut self, pool: &mut Formulas, children: &[Formula], conjunction: bool) -> Formula {
        let joined = |pool: &mut Formulas, parts: Vec<Formula>| {
            if conjunction { pool.and(parts) } else { pool.or(parts) }
        };
        let whole = joined(pool, children.to_vec());
        let mut parts = match pool.node(whole) {
            Node::And(parts) if conjunction => parts.to_vec(),
            Node::Or(parts) if !conjunction => parts.to_vec(),
            _ => return whole,
        };
        if parts.len() > PART_LIMIT {
            return whole;
        }
        // a & (a R b) is a & b; a | (a U b) is a | b.
        let present = parts.clone();
        for part in &mut parts {
            match pool.node(*part) {
                Node::Release(a, b) if conjunction && present.contains(a) => *part = *b,
                Node::Until(a, b) if !conjunction && present.contains(a) => *part = *b,
                _ => {}
            }
        }
        // The joined part may join with others.
        while let Some((first, second, both)) = self.joinable(pool, &parts, conjunction) {
            parts[first] = both;
            parts.remove(second);
        }
        // In a conjunction the part that is implied is dropped, in a disjunction the part that implies.
        let mut kept: Vec<Formula> = Vec::new();
        for (position, part) in parts.iter().enumerate() {
            let dropped = parts.iter().enumerate().any(|(other_position, other)| {
                let (weak, strong) = if conjunction { (*part, *other) } else { (*other, *part) };
                other_position != position
                    && self.implies(pool, strong, weak)
                    // Of two that imply each other the first is kept.
                    && (other_position < position || !self.implies(pool, weak, strong))
            });
            if !dropped {
                kept.push(*part);
            }
        }
        for (position, part) in kept.iter().enumerate() {
            for other in &kept[..position] {
                let contradiction = if conjunction {
                    let opposite = self.negation(pool, *other);
                    self.implies(pool, *part, opposite)
                } else {
                    let opposite = self.negation(pool, *other);
                    self.implies(pool, opposite, *part)
                };
                if contradiction {
                    return pool.constant(!conjunction);
                }
            }
        }
        joined(pool, kept)
    }

    /// The first two parts that become one, and what they become.
    fn joinable(
        &mut self,
        pool: &mut Formulas,
        parts: &[Formula],
        conjunction: bool,
    ) -> Option<(usize, usize, Formula)> {
        for second in 0..parts.len() {
            for first in 0..second {
                if let Some(both) = self.join(pool, parts[first], parts[second], conjunction) {
                    return Some((first, second, both));
                }
            }
        }
        None
    }

    /// One formula in place of two parts of a conjunction or disjunction, if an operator distributes over it.
    fn join(&mut self, pool: &mut Formulas, first: Formula, second: Formula, conjunction: bool) -> Option<Formula> {
        let both = |rules: &mut Self, pool: &mut Formulas, a: Formula, b: Formula| {
            rules.connective(pool, &[a, b], conjunction)
        };
        let always = |pool: &Formulas, formula: Formula| match pool.node(formula) {
            Node::Release(Formula::FALSE, inner) => Some(*inner),
            _ => None,
        };
        let eventually = |pool: &Formulas, formula: Formula| match pool.node(formula) {
            Node::Until(Formula::TRUE, inner) => Some(*inner),
            _ => None,
        };
        match (pool.node(first).clone(), pool.node(second).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = both(self, pool, a, b);
                Some(self.next(pool, inner))
            }
            (Node::Yesterday(a), Node::Yesterday(b)) => {
                let inner = both(self, pool, a, b);
                Some(pool.yesterday(inner))
            }
            (Node::WeakYesterday(a), Node::WeakYesterday(b)) => {
                let inner = both(self, pool, a, b);
                Some(pool.weak_yesterday(inner))
            }
            // F G a & F G b, G F a | G F b
            (Node::Until(Formula::TRUE, a), Node::Until(Formula::TRUE, b)) if conjunction => {
                let (a, b) = (always(pool, a)?, always(pool, b)?);
                let inner = both(self, pool, a, b);
                let inner = self.release(pool, Formula::FALSE, inner);
                Some(self.until(pool, Formula::TRUE, inner))
            }
            (Node::Release(Formula::FALSE, a), Node::Release(Formula::FALSE, b)) if !conjunction => {
                let (a, b) = (eventually(pool, a)?, eventually(pool, b)?);
                let inner = both(self, pool, a, b);
                let inner = self.until(pool, Formula::TRUE, inner);
                Some(self.release(pool, Formula::FALSE, inner))
            }
            (Node::Until(a, b), Node::Until(c, d)) if conjunction && b == d => {
                let left = both(self, pool, a, c);
                Some(self.until(pool, left, b))
            }
            (Node::Until(a, b), Node::Until(c, d)) if !conjunction && a == c => {
                let right = both(self, pool, b, d);
                Some(self.until(pool, a, right))
            }
            (Node::Release(a, b), Node::Release(c, d)) if conjunction && a == c => {
                let right = both(self, pool, b, d);
                Some(self.release(pool, a, right))
            }
            (Node::Release(a, b), Node::Release(c, d)) if !conjunction && b == d => {
                let left = both(self, pool, a, c);
                Some(self.release(pool, left, b))
            }
            (Node::Since(a, b), Node::Since(c, d)) if conjunction && b == d => {
                let left = both(self, pool, a, c);
                Some(self.since(pool, left, b))
            }
            (Node::Since(a, b), Node::Since(c, d)) if !conjunction && a == c => {
                let right = both(self, pool, b, d);
                Some(self.since(pool, a, right))
            }
            (Node::Triggered(a, b), Node::Triggered(c, d)) if conjunction && a == c => {
                let right = both(self, pool, b, d);
                Some(self.triggered(pool, a, right))
            }
            (Node::Triggered(a, b), Node::Triggered(c, d)) if !conjunction && b == d => {
                let left = both(self, pool, a, c);
                Some(self.triggered(pool, left, b))
            }
            _ => None,
        }
    }

    fn negation(&mut self, pool: &mut Formulas, formula: Formula) -> Formula {
        if let Some(&negation) = self.negations.get(&formula) {
            return negation;
        }
        let negation = both_forms(pool, formula).1;
        self.negations.insert(formula, negation);
        negation
    }

    fn persistence(&mut self, pool: &Formulas, formula: Formula) -> Persistence {
        if let Some(&known) = self.persistence.get(&formula) {
            return known;
        }
        for part in pool.subformulas(formula) {
            if self.persistence.contains_key(&part) {
                continue;
            }
            let of = |child: &Formula| self.persistence[child];
            let value = match pool.node(part) {
                Node::True | Node::False => Persistence { eventual: true, universal: true },
                Node::Atom(_) | Node::Not(_) | Node::Path(..) => Persistence::default(),
                Node::And(children) | Node::Or(children) => Persistence {
                    eventual: children.iter().all(|child| of(child).eventual),
                    universal: children.iter().all(|child| of(child).universal),
                },
                Node::Next(a) => of(a),
                Node::Until(a, b) => {
                    Persistence { eventual: *a == Formula::TRUE || of(b).eventual, universal: of(b).universal }
                }
                Node::Release(a, b) => {
                    Persistence { eventual: of(b).eventual, universal: *a == Formula::FALSE || of(b).universal }
                }
                Node::Yesterday(a) => Persistence { eventual: false, universal: of(a).universal },
                Node::WeakYesterday(a) => Persistence { eventual: of(a).eventual, universal: false },
                Node::Since(a, _) => Persistence { eventual: false, universal: *a == Formula::TRUE },
                Node::Triggered(a, _) => Persistence { eventual: *a == Formula::FALSE, universal: false },
            };
            self.persistence.insert(part, value);
        }
        self.persistence[&formula]
    }

    /// Whether the form of two formulas shows that one implies the other at every position.
    fn implies(&mut self, pool: &Formulas, a: Formula, b: Formula) -> bool {
        self.implies_within(pool, a, b, IMPLICATION_DEPTH)
    }

    fn implies_within(&mut self, pool: &Formulas, a: Formula, b: Formula, depth: u32) -> bool {
        if a == b || a == Formula::FALSE || b == Formula::TRUE {
            return true;
        }
        if a == Formula::TRUE || b == Formula::FALSE || depth == 0 {
            return false;
        }
        if let Some(&known) = self.implications.get(&(a, b)) {
            return known;
        }
        let value = self.find_implication(pool, a, b, depth - 1);
        // A value that was cut off by the depth would depend on who asked first; false is always sound.
        self.implications.insert((a, b), value);
        value
    }

    fn find_implication(&mut self, pool: &Formulas, a: Formula, b: Formula, depth: u32) -> bool {
        let mut implies = |a: Formula, b: Formula| self.implies_within(pool, a, b, depth);
        // By what follows from a.
        let by_left = match pool.node(a) {
            Node::And(parts) => parts.iter().any(|part| implies(*part, b)),
            Node::Or(parts) => parts.iter().all(|part| implies(*part, b)),
            Node::Until(left, right) | Node::Since(left, right) => implies(*left, b) && implies(*right, b),
            Node::Release(_, right) | Node::Triggered(_, right) => implies(*right, b),
            _ => false,
        };
        if by_left {
            return true;
        }
        // By what b follows from.
        let by_right = match pool.node(b) {
            Node::And(parts) => parts.iter().all(|part| implies(a, *part)),
            Node::Or(parts) => parts.iter().any(|part| implies(a, *part)),
            Node::Until(_, right) | Node::Since(_, right) => implies(a, *right),
            Node::Release(left, right) | Node::Triggered(left, right) => implies(a, *left) && implies(a, *right),
            _ => false,
        };
        if by_right {
            return true;
        }
        // Operators are monotonic.
        let by_both = match (pool.node(a), pool.node(b)) {
            (Node::Until(a, b), Node::Until(c, d))
            | (Node::Release(a, b), Node::Release(c, d))
            | (Node::Since(a, b), Node::Since(c, d))
            | (Node::Triggered(a, b), Node::Triggered(c, d)) => implies(*a, *c) && implies(*b, *d),
            (Node::Next(a), Node::Next(b))
            | (Node::Yesterday(a), Node::Yesterday(b) | Node::WeakYesterday(b))
            | (Node::WeakYesterday(a), Node::WeakYesterday(b)) => implies(*a, *b),
            _ => false,
        };
        if by_both {
            return true;
        }
        // G c implies X d, and X c implies F d, by moving a position.
        match (pool.node(a), pool.node(b)) {
            (_, Node::Next(inner)) if self.persistence(pool, a).universal => {
                self.implies_within(pool, a, *inner, depth)
            }
            (Node::Next(inner), _) if self.persistence(pool, b).eventual => self.implies_within(pool, *inner, b, depth),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;
    use crate::random::{FormulaShape, Random, random_formula, random_lasso};
    use crate::syntax::parse_plain;

    #[test]
    fn the_meaning_is_kept() {
        let mut random = Random::new(2);
        let mut smaller = 0;
        for round in 0..4000 {
            let mut pool = Formulas::new();
            let past = round % 2 == 0;
            let shape = FormulaShape { past, ..FormulaShape::future(2, 4 + round % 12) };
            let formula = random_formula(&mut pool, &mut random, &shape);
            let simple = simplify(&mut pool, formula);
            smaller += usize::from(pool.size(simple) < pool.size(formula));
            for _ in 0..12 {
                let lasso = random_lasso(&mut random, 2);
                assert_eq!(
                    lasso.satisfies(&pool, simple),
                    lasso.satisfies(&pool, formula),
                    "{} became {} on {lasso:?}",
                    plain(&pool, formula),
                    plain(&pool, simple)
                );
            }
        }
        assert!(smaller > 1000, "{smaller}");
    }

    #[test]
    fn implications_hold() {
        let mut random = Random::new(3);
        let mut found = 0;
        for _ in 0..6000 {
            let mut pool = Formulas::new();
            let shape = FormulaShape::with_past(2, 5);
            let formulas = [(); 2].map(|()| {
                let formula = random_formula(&mut pool, &mut random, &shape);
                negation_normal_form(&mut pool, formula)
            });
            let [a, b] = formulas;
            if Rules::default().implies(&pool, a, b) {
                found += 1;
                for _ in 0..20 {
                    let lasso = random_lasso(&mut random, 2);
                    assert!(
                        !lasso.satisfies(&pool, a) || lasso.satisfies(&pool, b),
                        "{} does not imply {}",
                        plain(&pool, a),
                        plain(&pool, b)
                    );
                }
            }
        }
        assert!(found > 300, "{found}");
    }

    #[test]
    fn known_simplifications() {
        for (text, expected) in [
            ("F F p0", "F p0"),
            ("G F G p0", "F G p0"),
            ("F G F p0", "G F p0"),
            ("p0 U (p0 U p1)", "p0 U p1"),
            ("F (p0 U p1)", "F p1"),
            ("G (p0 R p1)", "G p1"),
            ("X G F p0", "G F p0"),
            ("F X p0", "X F p0"),
            ("G p0 & p0", "G p0"),
            ("F p0 | F p1", "F (p0 | p1)"),
            ("G p0 & G p1", "G (p0 & p1)"),
            ("G F p0 | G F p1", "G F (p0 | p1)"),
            ("p0 U (p0 & G F p1)", "p0 & G F p1"),
            ("F (p0 & G F p1)", "F p0 & G F p1"),
            ("G p0 & F !p0", "false"),
            ("F p0 | G !p0", "true"),
            ("(p0 & !p1) U p1", "p0 U p1"),
            ("O O p0", "O p0"),
            ("H H p0", "H p0"),
            ("p0 S (p0 S p1)", "p0 S p1"),
            ("O (p0 S p1)", "O p1"),
            ("p0 & (p0 R p1)", "p0 & p1"),
        ] {
            let mut pool = Formulas::new();
            let formula = parse_plain(&mut pool, text).expect(text);
            let simple = simplify(&mut pool, formula);
            let expected = parse_plain(&mut pool, expected).expect(expected);
            assert_eq!(simple, expected, "{text}: {}", plain(&pool, simple));
        }
    }
}
