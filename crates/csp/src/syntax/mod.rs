//! The syntax of CSP#: text → tokens → tree. Every error is reported, not only the first.

mod parser;
#[cfg(test)]
mod tests;
mod token;
pub(super) mod tree;

use quotient_ir::{Diagnostic, Source};

pub(super) use self::token::KEYWORDS;
use self::tree::Specification;

/// Parses a text. The tree has everything that could be read.
pub(super) fn parse(source: &Source) -> (Specification, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let tokens = token::LEXICON.tokenize(&source.text, &mut diagnostics);
    let tree = parser::parse(&tokens, &mut diagnostics);
    (tree, diagnostics)
}
