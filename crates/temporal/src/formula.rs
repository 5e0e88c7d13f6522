//! Formulas of LTL with past and of CTL*, hash-consed in a pool.
//!
//! Owns the pool, its constructors and the semantics in words. The pool keeps few operators: the others are abbreviations
//! (`F a` is `true U a`, `a W b` is `b R (a | b)`), which the module `print` recognises again.
//!
//! A formula is evaluated at a position of an infinite word. Past operators look back to position 0, where `Y a` is false
//! and `Z a` is true. A formula holds on a word if it holds at position 0.
//!
//! The children of a node have smaller numbers than the node, so that all passes over formulas are loops in the order of
//! numbers, and none can exhaust the stack.

use rustc_hash::{FxHashMap, FxHashSet};

/// An atomic proposition: a number that the caller gives a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(pub u32);

/// A formula of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Formula(u32);

impl Formula {
    /// The constant true, in every pool.
    pub const TRUE: Self = Self(0);
    /// The constant false, in every pool.
    pub const FALSE: Self = Self(1);
    /// The number of the formula in its pool; larger than those of its children.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A quantifier over the paths from a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathQuantifier {
    /// `A`: on all paths.
    All,
    /// `E`: on some path.
    Some,
}

impl PathQuantifier {
    /// The other quantifier.
    #[must_use]
    pub fn dual(self) -> Self {
        match self {
            Self::All => Self::Some,
            Self::Some => Self::All,
        }
    }
}

/// The outermost operator of a formula, and its children.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Always true.
    True,
    /// Always false.
    False,
    /// An atomic proposition.
    Atom(Atom),
    /// Negation.
    Not(Formula),
    /// Conjunction of at least two formulas, in the order of their numbers.
    And(Box<[Formula]>),
    /// Disjunction of at least two formulas, in the order of their numbers.
    Or(Box<[Formula]>),
    /// `X a`: at the next position.
    Next(Formula),
    /// `a U b`: `b` now or later, and `a` until then.
    Until(Formula, Formula),
    /// `a R b`: `b` up to and including the first position with `a`, or forever.
    Release(Formula, Formula),
    /// `Y a`: there is a previous position, and `a` holds there.
    Yesterday(Formula),
    /// `Z a`: `a` holds at the previous position, if there is one.
    WeakYesterday(Formula),
    /// `a S b`: `b` now or earlier, and `a` since then.
    Since(Formula, Formula),
    /// `a T b`: `b` since and including the last position with `a`, or ever.
    Triggered(Formula, Formula),
    /// A path quantifier of CTL*.
    Path(PathQuantifier, Formula),
}

impl Node {
    /// The children, from left to right.
    pub fn children(&self) -> &[Formula] {
        match self {
            Self::True | Self::False | Self::Atom(_) => &[],
            Self::Not(child)
            | Self::Next(child)
            | Self::Yesterday(child)
            | Self::WeakYesterday(child)
            | Self::Path(_, child) => std::slice::from_ref(child),
            Self::And(children) | Self::Or(children) => children,
            _ => &[],
        }
    }
    /// Both children of a binary temporal operator.
    fn pair(&self) -> Option<(Formula, Formula)> {
        match self {
            Self::Until(a, b) | Self::Release(a, b) | Self::Since(a, b) | Self::Triggered(a, b) => Some((*a, *b)),
            _ => None,
        }
    }
    /// Calls a function with each child, from left to right.
    pub fn for_each_child(&self, mut visit: impl FnMut(Formula)) {
        if let Some((a, b)) = self.pair() {
            visit(a);
            visit(b);
        } else {
            self.children().iter().copied().for_each(visit);
        }
    }
}

/// A pool of formulas. Equal formulas have the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formulas {
    nodes: Vec<Node>,
    numbers: FxHashMap<Node, Formula>,
}

impl Default for Formulas {
    fn default() -> Self {
        Self::new()
    }
}

impl Formulas {
    /// A pool with the two constants.
    pub fn new() -> Self {
        let mut pool = Self { nodes: Vec::new(), numbers: FxHashMap::default() };
        pool.intern(Node::True);
        pool.intern(Node::False);
        pool
    }
    /// The outermost operator of a formula.
    pub fn node(&self, formula: Formula) -> &Node {
        &self.nodes[formula.index()]
    }
    /// How many formulas the pool has.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Never: a pool has the constants.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    fn intern(&mut self, node: Node) -> Formula {
        if let Some(&formula) = self.numbers.get(&node) {
            return formula;
        }
        let formula = Formula(u32::try_from(self.nodes.len()).expect("fewer than 2^32 formulas"));
        self.nodes.push(node.clone());
        self.numbers.insert(node, formula);
        formula
    }
    /// A constant.
    pub fn constant(&self, value: bool) -> Formula {
        if value { Formula::TRUE } else { Formula::FALSE }
    }
    /// An atomic proposition.
    pub fn atom(&mut self, atom: Atom) -> Formula {
        self.intern(Node::Atom(atom))
    }
    /// `!a`, without double negations.
    pub fn not(&mut self, formula: Formula) -> Formula {
        match self.node(formula) {
            Node::True => Formula::FALSE,
            Node::False => Formula::TRUE,
            Node::Not(inner) => *inner,
            _ => self.intern(Node::Not(formula)),
        }
    }
    /// The conjunction: flat, sorted, without repetitions and constants; false if it has a formula and its negation.
    pub fn and(&mut self, children: impl IntoIterator<Item = Formula>) -> Formula {
        match self.gather(children, true) {
            None => Formula::FALSE,
            Some(children) => match children[..] {
                [] => Formula::TRUE,
                [only] => only,
                _ => self.intern(Node::And(children.into())),
            },
        }
    }
    /// The disjunction, in the same form as conjunctions.
    pub fn or(&mut self, children: impl IntoIterator<Item = Formula>) -> Formula {
        match self.gather(children, false) {
            None => Formula::TRUE,
            Some(children) => match children[..] {
                [] => Formula::FALSE,
                [only] => only,
                _ => self.intern(Node::Or(children.into())),
            },
        }
    }
    /// The children of a conjunction or disjunction in its normal form; `None` if one of them decides the value.
    fn gather(&self, children: impl IntoIterator<Item = Formula>, conjunction: bool) -> Option<Vec<Formula>> {
        let (neutral, deciding) = if conjunction { (Node::True, Node::False) } else { (Node::False, Node::True) };
        let mut flat = Vec::new();
        for child in children {
            match (self.node(child), conjunction) {
                (Node::And(inner), true) | (Node::Or(inner), false) => flat.extend_from_slice(inner),
                (node, _) if *node == neutral => {}
                (node, _) if *node == deciding => return None,
                _ => flat.push(child),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let complementary = flat.iter().any(|child| match self.node(*child) {
            Node::Not(inner) => flat.binary_search(inner).is_ok(),
            _ => false,
        });
        (!complementary).then_some(flat)
    }
    /// `a -> b`.
    pub fn implies(&mut self, a: Formula, b: Formula) -> Formula {
        let not_a = self.not(a);
        self.or([not_a, b])
    }
    /// `a <-> b`.
    pub fn equivalent(&mut self, a: Formula, b: Formula) -> Formula {
        let (not_a, not_b) = (self.not(a), self.not(b));
        let both = self.and([a, b]);
        let neither = self.and([not_a, not_b]);
        self.or([both, neither])
    }
    /// `X a`.
    pub fn next(&mut self, a: Formula) -> Formula {
        if self.is_constant(a) { a } else { self.intern(Node::Next(a)) }
    }
    /// `a U b`.
    pub fn until(&mut self, a: Formula, b: Formula) -> Formula {
        if self.is_constant(b) || a == Formula::FALSE || a == b { b } else { self.intern(Node::Until(a, b)) }
    }
    /// `a R b`, SPIN's `a V b`.
    pub fn release(&mut self, a: Formula, b: Formula) -> Formula {
        if self.is_constant(b) || a == Formula::TRUE || a == b { b } else { self.intern(Node::Release(a, b)) }
    }
    /// `F a`, SPIN's `<> a`.
    pub fn eventually(&mut self, a: Formula) -> Formula {
        self.until(Formula::TRUE, a)
    }
    /// `G a`, SPIN's `[] a`.
    pub fn always(&mut self, a: Formula) -> Formula {
        self.release(Formula::FALSE, a)
    }
    /// `a W b`: `a` until `b`, or forever.
    pub fn weak_until(&mut self, a: Formula, b: Formula) -> Formula {
        let either = self.or([a, b]);
        self.release(b, either)
    }
    /// `a M b`: `b` up to and including the first position with `a`, which there is.
    pub fn strong_release(&mut self, a: Formula, b: Formula) -> Formula {
        let both = self.and([a, b]);
        self.until(b, both)
    }
    /// `Y a`.
    pub fn yesterday(&mut self, a: Formula) -> Formula {
        if a == Formula::FALSE { a } else { self.intern(Node::Yesterday(a)) }
    }
    /// `Z a`.
    pub fn weak_yesterday(&mut self, a: Formula) -> Formula {
        if a == Formula::TRUE { a } else { self.intern(Node::WeakYesterday(a)) }
    }
    /// `a S b`.
    pub fn since(&mut self, a: Formula, b: Formula) -> Formula {
        if self.is_constant(b) || a == Formula::FALSE || a == b { b } else { self.intern(Node::Since(a, b)) }
    }
    /// `a T b`.
    pub fn triggered(&mut self, a: Formula, b: Formula) -> Formula {
        if self.is_constant(b) || a == Formula::TRUE || a == b { b } else { self.intern(Node::Triggered(a, b)) }
    }
    /// `O a`: now or earlier.
    pub fn once(&mut self, a: Formula) -> Formula {
        self.since(Formula::TRUE, a)
    }
    /// `H a`: now and at all earlier positions.
    pub fn historically(&mut self, a: Formula) -> Formula {
        self.triggered(Formula::FALSE, a)
    }
    /// `A a` or `E a`.
    pub fn path(&mut self, quantifier: PathQuantifier, a: Formula) -> Formula {
        if self.is_constant(a) || matches!(self.node(a), Node::Path(..)) {
            a
        } else {
            self.intern(Node::Path(quantifier, a))
        }
    }
    fn is_constant(&self, formula: Formula) -> bool {
        formula == Formula::TRUE || formula == Formula::FALSE
    }
    /// The same operator with other children, in the same order; conjunctions and disjunctions may get any number.
    pub fn with_children(&mut self, node: &Node, children: &[Formula]) -> Formula {
        match node {
            Node::True => Formula::TRUE,
            Node::False => Formula::FALSE,
            Node::Atom(atom) => self.atom(*atom),
            Node::Not(_) => self.not(children[0]),
            Node::And(_) => self.and(children.iter().copied()),
            Node::Or(_) => self.or(children.iter().copied()),
            Node::Next(_) => self.next(children[0]),
            Node::Until(..) => self.until(children[0], children[1]),
            Node::Release(..) => self.release(children[0], children[1]),
            Node::Yesterday(_) => self.yesterday(children[0]),
            Node::WeakYesterday(_) => self.weak_yesterday(children[0]),
            Node::Since(..) => self.since(children[0], children[1]),
            Node::Triggered(..) => self.triggered(children[0], children[1]),
            Node::Path(quantifier, _) => self.path(*quantifier, children[0]),
        }
    }
    /// All subformulas including the formula itself, children before parents.
    pub fn subformulas(&self, formula: Formula) -> Vec<Formula> {
        self.subformulas_of_all([formula])
    }
    /// The same for several formulas together.
    pub fn subformulas_of_all(&self, formulas: impl IntoIterator<Item = Formula>) -> Vec<Formula> {
        let mut pending: Vec<Formula> = formulas.into_iter().collect();
        let mut found: FxHashSet<Formula> = pending.iter().copied().collect();
        while let Some(formula) = pending.pop() {
            self.node(formula).for_each_child(|child| {
                if found.insert(child) {
                    pending.push(child);
                }
            });
        }
        let mut all: Vec<Formula> = found.into_iter().collect();
        all.sort_unstable();
        all
    }
    /// The atoms of a formula, in their order.
    pub fn atoms(&self, formula: Formula) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = self
            .subformulas(formula)
            .into_iter()
            .filter_map(|part| match self.node(part) {
                Node::Atom(atom) => Some(*atom),
                _ => None,
            })
            .collect();
        atoms.sort_unstable();
        atoms
    }
    /// Rebuilds a formula from its leaves. The function gets each operator with its new children.
    pub fn rebuild(
        &mut self,
        formula: Formula,
        mut build: impl FnMut(&mut Self, &Node, &[Formula]) -> Formula,
    ) -> Formula {
        let mut images: FxHashMap<Formula, Formula> = FxHashMap::default();
        let mut children = Vec::new();
        for part in self.subformulas(formula) {
            let node = self.node(part).clone();
            children.clear();
            node.for_each_child(|child| children.push(images[&child]));
            let image = build(self, &node, &children);
            images.insert(part, image);
        }
        images[&formula]
    }
    /// The formula with atoms replaced by formulas.
    pub fn substitute(&mut self, formula: Formula, mut image: impl FnMut(&mut Self, Atom) -> Formula) -> Formula {
        self.rebuild(formula, |pool, node, children| match node {
            Node::Atom(atom) => image(pool, *atom),
            _ => pool.with_children(node, children),
        })
    }
    /// Whether the formula has a path quantifier, and so is not one of LTL.
    pub fn has_path_quantifier(&self, formula: Formula) -> bool {
        self.subformulas(formula).into_iter().any(|part| matches!(self.node(part), Node::Path(..)))
    }
    /// Whether the formula has neither temporal operators nor path quantifiers.
    pub fn is_boolean(&self, formula: Formula) -> bool {
        self.subformulas(formula).into_iter().all(|part| {
            matches!(
                self.node(part),
                Node::True | Node::False | Node::Atom(_) | Node::Not(_) | Node::And(_) | Node::Or(_)
            )
        })
    }
    /// How many different subformulas the formula has.
    pub fn size(&self, formula: Formula) -> usize {
        self.subformulas(formula).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_formulas_have_the_same_number() {
        let mut pool = Formulas::new();
        let (p, q) = (pool.atom(Atom(0)), pool.atom(Atom(1)));
        assert_eq!(pool.and([p, q]), pool.and([q, p, Formula::TRUE, q]));
        let both = pool.and([p, q]);
        let r = pool.atom(Atom(2));
        assert_eq!(pool.and([both, r]), pool.and([r, q, p]));
        let not_p = pool.not(p);
        assert_eq!(pool.not(not_p), p);
        assert_eq!(pool.and([q, not_p, p]), Formula::FALSE);
        assert_eq!(pool.or([q, not_p, p]), Formula::TRUE);
    }

    #[test]
    fn children_come_before_parents() {
        let mut pool = Formulas::new();
        let p = pool.atom(Atom(0));
        let mut formula = p;
        for _ in 0..100_000 {
            formula = pool.next(formula);
        }
        let parts = pool.subformulas(formula);
        assert_eq!(parts.len(), 100_001);
        assert_eq!(parts[0], p);
        assert_eq!(pool.rebuild(formula, Formulas::with_children), formula);
    }

    #[test]
    fn constants_at_the_first_position() {
        let mut pool = Formulas::new();
        assert_eq!(pool.next(Formula::TRUE), Formula::TRUE);
        // There is no position before the first.
        assert_ne!(pool.yesterday(Formula::TRUE), Formula::TRUE);
        assert_ne!(pool.weak_yesterday(Formula::FALSE), Formula::FALSE);
    }
}
