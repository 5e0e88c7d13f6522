//! The tree of a formula's text: operators, quantifiers and atoms, each with its span.
//!
//! Nodes are in one list, children before parents.

use super::{Expressions, Span};
use crate::formula::PathQuantifier;

/// The number of a node of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SyntaxId(pub(super) u32);

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `!`, `not`.
    Not,
    /// `X`, `next`.
    Next,
    /// `<>`, `F`, `eventually`.
    Eventually,
    /// `[]`, `G`, `always`.
    Always,
    /// `Y`, `yesterday`.
    Yesterday,
    /// `Z`: yesterday, or there is no yesterday.
    WeakYesterday,
    /// `O`, `once`.
    Once,
    /// `H`, `historically`.
    Historically,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `&&`, `&`, `and`.
    And,
    /// `||`, `|`, `or`.
    Or,
    /// `->`, `=>`, `implies`.
    Implies,
    /// `<->`, `<=>`, `equivalent`.
    Equivalent,
    /// `U`, `until`, `stronguntil`.
    Until,
    /// `W`, `weakuntil`.
    WeakUntil,
    /// `R`, `V`, `release`.
    Release,
    /// `M`: strong release.
    StrongRelease,
    /// `S`, `since`.
    Since,
    /// `T`, `triggered`.
    Triggered,
}

impl Binary {
    /// How tightly the operator binds.
    pub(super) fn level(self) -> u8 {
        match self {
            Self::Implies | Self::Equivalent => 1,
            Self::Or => 2,
            Self::And => 3,
            _ => 4,
        }
    }
    pub(super) fn is_temporal(self) -> bool {
        self.level() == 4
    }
}

/// A quantifier over the values of a type or range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `forall`.
    ForAll,
    /// `exists`.
    Exists,
}

/// A quantifier with its variable and the text of its domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantified {
    /// Which quantifier.
    pub quantifier: Quantifier,
    /// The name of the variable.
    pub variable: Span,
    /// The text after `:` or `:=`: a type, or a range of the language.
    pub domain: Span,
    /// Whether it was written with `:=`, as Murphi's `i := 0 to 3`.
    pub assigned: bool,
    /// Whether it was written as in Murphi, `do … end`, and not with a second colon.
    pub closed_by_end: bool,
    /// The formula it governs.
    pub body: SyntaxId,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyntaxKind {
    /// `true` or `false`.
    Constant(bool),
    /// An atom: its text is the span of the node.
    Atom,
    /// An operator with one operand.
    Unary(Unary, SyntaxId),
    /// An operator with two operands.
    Binary(Binary, SyntaxId, SyntaxId),
    /// `A` or `E`.
    Path(PathQuantifier, SyntaxId),
    /// `forall` or `exists`.
    Quantified(Quantified),
}

/// A node: what it is and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxNode {
    /// What it is.
    pub kind: SyntaxKind,
    /// The text of the node without parentheses around it.
    pub span: Span,
    /// The text with parentheses around it.
    pub outer: Span,
    /// The text of its operator, if it has one.
    pub operator: Span,
    /// How deeply it is nested, without counting chains of `&&` or `||`.
    pub(super) depth: u32,
}

/// The tree of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxTree {
    pub(super) nodes: Vec<SyntaxNode>,
    pub(super) root: SyntaxId,
}

impl SyntaxTree {
    /// The whole formula.
    pub fn root(&self) -> SyntaxId {
        self.root
    }
    /// A node.
    pub fn node(&self, id: SyntaxId) -> &SyntaxNode {
        &self.nodes[id.0 as usize]
    }
    /// The spans of all atoms, from left to right.
    pub fn atoms(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut pending = vec![self.root];
        while let Some(id) = pending.pop() {
            let node = self.node(id);
            match &node.kind {
                SyntaxKind::Constant(_) => {}
                SyntaxKind::Atom => spans.push(node.span),
                SyntaxKind::Unary(_, a) | SyntaxKind::Path(_, a) => pending.push(*a),
                SyntaxKind::Binary(_, a, b) => pending.extend([*b, *a]),
                SyntaxKind::Quantified(quantified) => pending.push(quantified.body),
            }
        }
        spans
    }
    /// Makes an atom of each largest part without temporal operators whose connectives are also those of the expressions
    /// of the language, so that the language evaluates it as a whole.
    pub fn merge_atoms(&mut self, text: &str, expressions: &dyn Expressions) {
        // Children come first. A part with at least one connective becomes an atom; its own parts are not visited again.
        let mut mergeable = vec![false; self.nodes.len()];
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let of = |id: &SyntaxId| mergeable[id.0 as usize];
            let connective = || expressions.is_connective(node.operator.of(text));
            mergeable[index] = match &node.kind {
                SyntaxKind::Atom => true,
                SyntaxKind::Constant(_) => expressions.is_connective(node.span.of(text)),
                SyntaxKind::Unary(Unary::Not, a) => connective() && of(a),
                SyntaxKind::Binary(operator, a, b) if !operator.is_temporal() => connective() && of(a) && of(b),
                SyntaxKind::Quantified(quantified) => quantified.closed_by_end && connective() && of(&quantified.body),
                _ => false,
            };
        }
        for (node, mergeable) in self.nodes.iter_mut().zip(mergeable) {
            if mergeable && !matches!(node.kind, SyntaxKind::Constant(_)) {
                node.kind = SyntaxKind::Atom;
            }
        }
    }
}
