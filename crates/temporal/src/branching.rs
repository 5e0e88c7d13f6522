//! CTL*: state formulas separated from the path formulas inside them.
//!
//! A formula of CTL* is checked from the inside: each `A f` or `E f` whose `f` has no other path quantifier is an LTL
//! question about every state; its answer is a new atom in the formula around it (Emerson and Lei, Modalities for model
//! checking, 1987). Operators of CTL are steps whose path formula has one temporal operator.
//!
//! The past of a path formula begins where its path begins: what was before the state is forgotten.

use crate::formula::{Atom, Formula, Formulas, Node, PathQuantifier};
use rustc_hash::FxHashMap;

/// A path quantifier before a formula of LTL, named by an atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The atom that stands for it in later steps and in the state formula.
    pub atom: Atom,
    /// All paths, or some path.
    pub quantifier: PathQuantifier,
    /// The path formula: LTL over atoms of the formula and of earlier steps.
    pub path: Formula,
    /// What an engine for CTL can do with it.
    pub operator: CtlOperator,
}

/// The operator of CTL that a step is, if its path formula has just one temporal operator, applied to conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CtlOperator {
    /// `AX a`, `EX a`.
    Next(Formula),
    /// `A[a U b]`, `E[a U b]`; `AF b`, `EF b` if `a` is true.
    Until(Formula, Formula),
    /// `A[a R b]`, `E[a R b]`; `AG b`, `EG b` if `a` is false.
    Release(Formula, Formula),
    /// Not one of CTL: an automaton is needed.
    None,
}

impl PathStep {
    /// The path formula and its operator, negated if the step is about all paths: the step says that some path
    /// satisfies it, or that none does.
    pub fn existential(&self, pool: &mut Formulas) -> (Formula, CtlOperator) {
        if self.quantifier == PathQuantifier::Some {
            return (self.path, self.operator);
        }
        let mut not = |formula| pool.not(formula);
        let operator = match self.operator {
            CtlOperator::Next(a) => CtlOperator::Next(not(a)),
            CtlOperator::Until(a, b) => CtlOperator::Release(not(a), not(b)),
            CtlOperator::Release(a, b) => CtlOperator::Until(not(a), not(b)),
            CtlOperator::None => CtlOperator::None,
        };
        (not(self.path), operator)
    }
}

/// A formula with the quantified path formulas that its atoms stand for, instead of these atoms.
pub fn restored(pool: &mut Formulas, steps: &[PathStep], formula: Formula) -> Formula {
    fn named(pool: &mut Formulas, steps: &[PathStep], images: &[Formula], formula: Formula) -> Formula {
        pool.substitute(formula, |pool, atom| match steps.iter().position(|step| step.atom == atom) {
            Some(step) => images[step],
            None => pool.atom(atom),
        })
    }
    let mut images: Vec<Formula> = Vec::new();
    for step in steps {
        let path = named(pool, steps, &images, step.path);
        images.push(pool.path(step.quantifier, path));
    }
    named(pool, steps, &images, formula)
}

/// A formula of CTL* as steps and a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Separation {
    /// The quantified path formulas, from the inside to the outside.
    pub steps: Vec<PathStep>,
    /// A boolean combination of atoms of the formula and of steps.
    pub condition: Formula,
}

/// A temporal operator that no path quantifier governs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a temporal operator is not governed by `A` or `E`")]
pub struct NotAStateFormula {
    /// The part with that operator.
    pub part: Formula,
}

/// Separates a state formula. New atoms are numbered from `first_atom`, which must be above those of the formula.
///
/// # Errors
/// If a temporal operator is not governed by a path quantifier.
pub fn separate(pool: &mut Formulas, formula: Formula, first_atom: Atom) -> Result<Separation, NotAStateFormula> {
    let mut steps: Vec<PathStep> = Vec::new();
    let mut images: FxHashMap<Formula, Formula> = FxHashMap::default();
    for part in pool.subformulas(formula) {
        let node = pool.node(part).clone();
        let mut children = Vec::new();
        node.for_each_child(|child| children.push(images[&child]));
        let image = match node {
            Node::Path(quantifier, _) => {
                let path = children[0];
                if pool.is_boolean(path) {
                    // A condition holds on a path if it holds where the path starts.
                    path
                } else {
                    let same = steps.iter().find(|step| step.quantifier == quantifier && step.path == path);
                    let atom = match same {
                        Some(step) => step.atom,
                        None => {
                            let atom = Atom(first_atom.0 + steps.len() as u32);
                            let operator = ctl_operator(pool, path);
                            steps.push(PathStep { atom, quantifier, path, operator });
                            atom
                        }
                    };
                    pool.atom(atom)
                }
            }
            _ => pool.with_children(&node, &children),
        };
        images.insert(part, image);
    }
    let condition = images[&formula];
    let ungoverned = pool.subformulas(condition).into_iter().find(|part| !pool.is_boolean(*part));
    match ungoverned {
        Some(part) => Err(NotAStateFormula { part }),
        None => Ok(Separation { steps, condition }),
    }
}

fn ctl_operator(pool: &Formulas, path: Formula) -> CtlOperator {
    match *pool.node(path) {
        Node::Next(a) if pool.is_boolean(a) => CtlOperator::Next(a),
        Node::Until(a, b) if pool.is_boolean(a) && pool.is_boolean(b) => CtlOperator::Until(a, b),
        Node::Release(a, b) if pool.is_boolean(a) && pool.is_boolean(b) => CtlOperator::Release(a, b),
        _ => CtlOperator::None,
    }
}

/// Whether a formula is one of CTL: a state formula whose path formulas have one temporal operator each.
pub fn is_ctl(pool: &mut Formulas, formula: Formula) -> bool {
    let first = pool.atoms(formula).last().map_or(0, |atom| atom.0 + 1);
    separate(pool, formula, Atom(first))
        .is_ok_and(|separation| separation.steps.iter().all(|step| step.operator != CtlOperator::None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;
    use crate::syntax::parse_plain;

    fn separated(text: &str) -> Result<String, String> {
        let mut pool = Formulas::new();
        let formula = parse_plain(&mut pool, text).expect(text);
        let separation =
            separate(&mut pool, formula, Atom(10)).map_err(|error| format!("{error}: {}", plain(&pool, error.part)))?;
        let mut lines: Vec<String> = separation
            .steps
            .iter()
            .map(|step| format!("p{} = {:?} {}", step.atom.0, step.quantifier, plain(&pool, step.path)))
            .collect();
        lines.push(plain(&pool, separation.condition));
        Ok(lines.join("; "))
    }

    #[test]
    fn from_the_inside_to_the_outside() {
        assert_eq!(separated("AG EF p0"), Ok("p10 = Some F p0; p11 = All G p10; p11".into()));
        assert_eq!(separated("A (G F p0 -> G F E X p1) & p2"), {
            Ok("p10 = Some X p1; p11 = All !G F p0 | G F p10; p2 & p11".into())
        });
        assert_eq!(separated("EF p0 & AX EF p0"), Ok("p10 = Some F p0; p11 = All X p10; p10 & p11".into()));
        assert_eq!(separated("A p0 | E (p1 & p2)"), Ok("p0 | (p1 & p2)".into()));
        assert_eq!(separated("p0 & F p1").map_err(|error| error.contains("F p1")), Err(true));
    }

    #[test]
    fn ctl_is_recognised() {
        for (text, expected) in [
            ("AG (p0 -> EF p1)", true),
            ("A[p0 U (E[p1 R p2])]", true),
            ("A G F p0", false),
            ("E (F p0 & F p1)", false),
            ("AG AF p0", true),
            ("F p0", false),
        ] {
            let mut pool = Formulas::new();
            let formula = parse_plain(&mut pool, text).expect(text);
            assert_eq!(is_ctl(&mut pool, formula), expected, "{text}");
        }
    }
}
