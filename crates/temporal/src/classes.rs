//! Classes of formulas that can be read off their form.
//!
//! The hierarchy of safety, guarantee, obligation, persistence and recurrence is that of Chang, Manna and Pnueli,
//! Characterization of temporal property classes (1992): the form shows membership, its absence shows nothing. Operators of
//! the past look at finitely many positions, so they keep every class.
//!
//! Invariance under stuttering: formulas without `X` and yesterday (Lamport 1983), and formulas that use `X` only to speak
//! about an edge, a step at which a condition on states changes (Păun and Chechik, On closure under stuttering, 2003). What
//! is accepted here is proved at [`is_stutter_invariant`].

use crate::formula::{Formula, Formulas, Node};
use crate::normal::negation_normal_form;
use rustc_hash::FxHashMap;

/// The classes that a formula's form shows it to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Every violation has a finite prefix that no continuation repairs.
    pub safety: bool,
    /// The negation is a safety formula: a finite prefix decides that it holds.
    pub guarantee: bool,
    /// A boolean combination of safety and guarantee.
    pub obligation: bool,
    /// Something holds from some position on, like `F G p`.
    pub persistence: bool,
    /// Something holds again and again, like `G F p`.
    pub recurrence: bool,
}

impl Classes {
    const ALL: Self = Self { safety: true, guarantee: true, obligation: true, persistence: true, recurrence: true };

    fn both(self, other: Self) -> Self {
        Self {
            safety: self.safety && other.safety,
            guarantee: self.guarantee && other.guarantee,
            obligation: self.obligation && other.obligation,
            persistence: self.persistence && other.persistence,
            recurrence: self.recurrence && other.recurrence,
        }
    }
    /// With the classes that contain others.
    fn closed(mut self) -> Self {
        self.obligation |= self.safety || self.guarantee;
        self.persistence |= self.obligation;
        self.recurrence |= self.obligation;
        self
    }
}

/// The classes that the form of an LTL formula shows it to be in; none for formulas with path quantifiers.
pub fn classes(pool: &mut Formulas, formula: Formula) -> Classes {
    let formula = negation_normal_form(pool, formula);
    let mut known: FxHashMap<Formula, Classes> = FxHashMap::default();
    for part in pool.subformulas(formula) {
        let of = |child: &Formula| known[child];
        let value = match pool.node(part) {
            Node::True | Node::False | Node::Atom(_) | Node::Not(_) => Classes::ALL,
            Node::And(children) | Node::Or(children) => {
                children.iter().fold(Classes::ALL, |classes, child| classes.both(of(child)))
            }
            Node::Next(a) | Node::Yesterday(a) | Node::WeakYesterday(a) => of(a),
            Node::Since(a, b) | Node::Triggered(a, b) => of(a).both(of(b)),
            Node::Until(a, b) => {
                let (a, b) = (of(a), of(b));
                Classes {
                    safety: false,
                    guarantee: a.guarantee && b.guarantee,
                    obligation: a.obligation && b.guarantee,
                    persistence: a.persistence && b.persistence,
                    recurrence: a.recurrence && b.guarantee,
                }
            }
            Node::Release(a, b) => {
                let (a, b) = (of(a), of(b));
                Classes {
                    safety: a.safety && b.safety,
                    guarantee: false,
                    obligation: a.obligation && b.safety,
                    persistence: a.persistence && b.safety,
                    recurrence: a.recurrence && b.recurrence,
                }
            }
            Node::Path(..) => {
                Classes { safety: false, guarantee: false, obligation: false, persistence: false, recurrence: false }
            }
        };
        known.insert(part, value.closed());
    }
    known[&formula]
}

/// Whether a formula speaks only about the present and the past.
pub fn is_past_only(pool: &Formulas, formula: Formula) -> bool {
    pool.subformulas(formula)
        .into_iter()
        .all(|part| !matches!(pool.node(part), Node::Next(_) | Node::Until(..) | Node::Release(..) | Node::Path(..)))
}

/// The largest parts of a formula that speak only about the present and the past, and do speak about the past.
pub fn past_only_parts(pool: &Formulas, formula: Formula) -> Vec<Formula> {
    let parts = pool.subformulas(formula);
    let mut past: FxHashMap<Formula, (bool, bool)> = FxHashMap::default();
    for part in &parts {
        let node = pool.node(*part);
        let mut value = (
            !matches!(node, Node::Next(_) | Node::Until(..) | Node::Release(..) | Node::Path(..)),
            matches!(node, Node::Yesterday(_) | Node::WeakYesterday(_) | Node::Since(..) | Node::Triggered(..)),
        );
        node.for_each_child(|child| {
            value.0 &= past[&child].0;
            value.1 |= past[&child].1;
        });
        past.insert(*part, value);
    }
    let is_part = |formula: Formula| past[&formula] == (true, true);
    if is_part(formula) {
        return vec![formula];
    }
    let mut found = Vec::new();
    for part in parts {
        if !past[&part].0 {
            pool.node(part).for_each_child(|child| {
                if is_part(child) && !found.contains(&child) {
                    found.push(child);
                }
            });
        }
    }
    found.sort_unstable();
    found
}

/// Whether the form of an LTL formula shows that repeating or dropping repeated letters does not change its truth.
///
/// A word consists of blocks of equal letters. A formula is *closed* if its truth at a position depends only on the blocks
/// and on which block the position is in. Boolean combinations, `U`, `R`, `S` and `T` of closed formulas are closed. An
/// *edge* is a conjunction with `l` and `X m`, where `l` and `m` are conditions on states that exclude each other, and
/// otherwise only closed formulas and `X` of closed formulas: it can hold only at the last position of a block, and its
/// truth there depends only on the blocks. So `F edge` is closed. `edge R b` is closed for closed `b`, and so are the dual
/// forms `G !edge` and `!edge U b`: these hold at all positions inside blocks, and where `b` holds first it holds at the
/// first position of a block, which comes after the same edges whatever the lengths of blocks.
pub fn is_stutter_invariant(pool: &mut Formulas, formula: Formula) -> bool {
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

    fn of(text: &str) -> Classes {
        let mut pool = Formulas::new();
        let formula = parse_plain(&mut pool, text).expect(text);
        classes(&mut pool, formula)
    }

    #[test]
    fn known_classes() {
        for text in
            ["G p0", "p0 W p1", "G (p0 -> X p1)", "G (p0 -> O p1)", "p0 & X !p1", "!F p0", "G (p0 -> (p1 R p2))"]
        {
            assert!(of(text).safety, "{text}");
        }
        for text in ["F p0", "p0 U p1", "!G p0", "F (p0 & H p1)", "X p0"] {
            assert!(of(text).guarantee, "{text}");
        }
        for text in ["G p0 | F p1", "G p0 -> G p1", "(G p0) U p1"] {
            assert!(of(text).obligation && !of(text).safety && !of(text).guarantee, "{text}");
        }
        assert!(of("G (p0 -> F p1)").recurrence && !of("G (p0 -> F p1)").persistence);
        assert!(of("F G p0").persistence && !of("F G p0").recurrence);
        let reactivity = of("G F p0 -> G F p1");
        assert!(!reactivity.persistence && !reactivity.recurrence);
    }

    #[test]
    fn past_parts() {
        let mut pool = Formulas::new();
        let formula = parse_plain(&mut pool, "G (p0 -> O p1) & F (H p0 S p1) & p2").expect("a formula");
        let found: Vec<String> = past_only_parts(&pool, formula).iter().map(|part| plain(&pool, *part)).collect();
        assert_eq!(found, ["O p1 | !p0", "H p0 S p1"]);
    }

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
