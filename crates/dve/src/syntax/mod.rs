//! From text to tree: lexer and parser.

mod expressions;
mod parser;
mod token;
pub(crate) mod tree;

use quotient_ir::{Diagnostic, Source};

pub(crate) use self::token::KEYWORDS;

/// Reads a text. The tree holds what could be understood of it.
pub(crate) fn parse(source: &Source) -> (tree::System, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let tokens = token::LEXICON.tokenize(&source.text, &mut diagnostics);
    let system = parser::parse(&tokens, &mut diagnostics);
    (system, diagnostics)
}

#[cfg(test)]
mod tests;
