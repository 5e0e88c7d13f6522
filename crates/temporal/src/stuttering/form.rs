//! Invariance under stuttering that the form of a formula shows: formulas without `X` and yesterday (Lamport 1983), and
//! formulas that use `X` only to speak about an edge, a step at which a condition on states changes (Păun and Chechik, On
//! closure under stuttering, 2003). What is accepted here is proved at [`is_stutter_invariant`].

use crate::formula::{Formula, Formulas, Node};
use crate::normal::negation_normal_form;
use rustc_hash::FxHashMap;

/// Whether the form of an LTL formula shows that repeating or dropping repeated letters does not change its truth.
///
/// A word consists of blocks of equal letters. A formula is *closed* if its truth at a position depends only on the blocks
/// and on which block the position is in. Boolean combinations, `U`, `R`, `S` and `T` of closed formulas are closed. An
/// *edge* is a conjunction with `l` and `X m`, where `l` and `m` are conditions on states that exclude each other, and
/// otherwise only closed formulas and `X` of closed formulas: it can hold only at the last position of a block, and its
/// truth there depends only on the blocks. So `F edge` is closed. `edge R b` is closed for closed `b`, and so are the dual
/// forms `G !edge` and `!edge U b`: these hold at all positions inside blocks, and where `b` holds first it holds at the
/// first position of a block, which comes after the same edges whatever the lengths of blocks.
pub(super) fn is_stutter_invariant(pool: &mut Formulas, formula: Formula) -> bool {
    let formula = negation_normal_form(pool, formula);
    let mut closed: FxHashMap<Formula, bool> = FxHashMap::default();
    for part in pool.subformulas(formula) {
        let of = |child: &Formula| closed[child];
        let value = match pool.node(part).clone() {
            Node::True | Node::False | Node::Atom(_) | Node::Not(_) => true,
            Node::And(children) | Node::Or(children) => children.iter().all(of),
            Node::Next(_) | Node::Yesterday(_) | Node::WeakYesterday(_) | Node::Path(..) => false,
            Node::Since(a, b) | Node::Triggered(a, b) => of(&a) && of(&b),
            Node::Until(a, b) => {
                (of(&a) && of(&b))
                    || (a == Formula::TRUE && is_edge(pool, &closed, b, true))
                    || (of(&b) && is_edge(pool, &closed, a, false))
            }
            Node::Release(a, b) => {
                (of(&a) && of(&b))
                    || (a == Formula::FALSE && is_edge(pool, &closed, b, false))
                    || (of(&b) && is_edge(pool, &closed, a, true))
            }
        };
        closed.insert(part, value);
    }
    closed[&formula]
}

/// Whether a formula is an edge, or the negation of one.
fn is_edge(pool: &mut Formulas, closed: &FxHashMap<Formula, bool>, formula: Formula, positive: bool) -> bool {
    let parts = match pool.node(formula) {
        Node::And(parts) if positive => parts.to_vec(),
        Node::Or(parts) if !positive => parts.to_vec(),
        _ => return false,
    };
    let mut now = Vec::new();
    let mut next = Vec::new();
    for part in parts {
        match pool.node(part) {
            Node::Next(inner) if closed[inner] => {
                let inner = *inner;
                if let (Node::And(inner), true) | (Node::Or(inner), false) = (pool.node(inner), positive) {
                    next.extend(inner.iter().copied());
                }
                next.push(inner);
            }
            _ if closed[&part] => now.push(part),
            _ => return false,
        }
    }
    next.iter().any(|inner| {
        let opposite = match pool.node(*inner) {
            Node::Atom(_) | Node::Not(_) => pool.not(*inner),
            _ => return false,
        };
        now.contains(&opposite)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;
    use crate::random::{FormulaShape, Random, random_formula, random_lasso};
    use crate::syntax::parse_plain;

    #[test]
    fn stuttering_by_form() {
        for (text, expected) in [
            ("G (p0 -> F p1)", true),
            ("p0 S p1", true),
            ("X p0", false),
            ("F (!p0 & X p0)", true),
            ("F (!p0 & X p0 & p1 & X F p2)", true),
            ("G ((!p0 & X p0) -> X p1)", true),
            ("G (p0 -> X p1)", false),
            ("(p0 | !X p0) U p1", true),
            ("p1 U (!p0 & X p0)", false),
            ("F (p0 & X p1)", false),
            ("Y p0", false),
        ] {
            let mut pool = Formulas::new();
            let formula = parse_plain(&mut pool, text).expect(text);
            assert_eq!(is_stutter_invariant(&mut pool, formula), expected, "{text}");
        }
    }

    #[test]
    fn formulas_of_the_fragment_are_invariant_on_random_words() {
        let mut random = Random::new(5);
        let mut with_next = 0;
        let templates = [
            "F (!p0 & X p0 & A & X B)",
            "G (p0 | X !p0 | A | X B)",
            "(p0 | X !p0 | A | X B) U C",
            "(p0 & X !p0 & A & X B) R C",
            "A",
        ];
        for round in 0..1500 {
            let mut pool = Formulas::new();
            let shape = FormulaShape { next: false, ..FormulaShape::future(3, 6) };
            let parts: Vec<String> = (0..3)
                .map(|_| {
                    let part = random_formula(&mut pool, &mut random, &shape);
                    format!("({})", plain(&pool, part))
                })
                .collect();
            let text = templates[round % templates.len()]
                .replace('A', &parts[0])
                .replace('B', &parts[1])
                .replace('C', &parts[2]);
            let formula = parse_plain(&mut pool, &text).expect(&text);
            if !is_stutter_invariant(&mut pool, formula) {
                continue;
            }
            with_next += usize::from(text.contains('X'));
            for _ in 0..10 {
                let lasso = random_lasso(&mut random, 3);
                let mut stuttered = lasso.clone();
                stuttered.prefix = lasso.prefix.iter().flat_map(|l| vec![*l; 1 + random.below(3)]).collect();
                stuttered.cycle = lasso.cycle.iter().flat_map(|l| vec![*l; 1 + random.below(3)]).collect();
                assert_eq!(lasso.satisfies(&pool, formula), stuttered.satisfies(&pool, formula), "{text}");
            }
        }
        assert!(with_next > 500, "{with_next}");
    }
}
