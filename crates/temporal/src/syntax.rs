//! Formulas as text.
//!
//! Owns the operators and their spellings (`vocabulary`), what atoms look like in a language (`dialect`), tokens, the tree
//! with its spans, and the parser. The text of an atom is opaque: the caller reads it when it lowers the tree to a formula
//! ([`lower`]).

mod dialect;
mod lexer;
mod lower;
mod parser;
mod tree;
mod vocabulary;

pub use dialect::{
    Associativity, Delimited, Dialect, DveExpressions, Expressions, MurphiExpressions, Piece, PromelaExpressions,
};
pub use lower::{AtomReader, AtomTable, Binding, lower, lower_from, parse_plain};
pub use parser::parse;
pub use tree::{Binary, Quantified, Quantifier, SyntaxId, SyntaxKind, SyntaxNode, SyntaxTree, Unary};

/// A range of bytes of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to but excluding `end`.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end) }
    }
    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
    /// The same as a range of byte offsets.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
    /// The text of the span.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }
}

/// What is wrong with the text of a formula, where, and how to repair it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// A stable short code such as `expected-operand`.
    pub code: &'static str,
    /// What is wrong, in one line, without a final full stop.
    pub message: String,
    /// The location.
    pub span: Span,
    /// Another location that matters, with a text about it.
    pub related: Option<(Span, String)>,
    /// How to repair it.
    pub help: Option<String>,
}

impl SyntaxError {
    fn new(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self { code, message: message.into(), span, related: None, help: None }
    }
    fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
    fn with_related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related = Some((span, text.into()));
        self
    }
}

#[cfg(test)]
mod tests;
