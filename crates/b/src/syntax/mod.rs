//! From the text of a B machine to its syntax tree, in ASCII or in mathematical notation.

mod lexer;
mod parser;
#[cfg(test)]
mod tests;
mod token;
pub(crate) mod tree;

use std::ops::Range;

use quotient_ir::Diagnostic;
use tree::{Formula, Machine};

/// The maximum height of the tree of a machine. Everything that walks it uses a stack for that height.
pub(crate) const MAXIMUM_HEIGHT: u32 = 2000;

/// Parses the machine in a part of a text: the tree of what could be parsed, and every syntax error, in source order.
pub(crate) fn parse(text: &str, part: Range<usize>) -> (Machine, Vec<Diagnostic>) {
    let (tokens, mut errors) = lexer::tokenize(&text[..part.end], part.start);
    let (machine, about_syntax) = parser::parse(text, tokens);
    errors.extend(about_syntax);
    (machine, quotient_kit::first_errors(errors))
}

/// The words that cannot be names.
pub(crate) fn keywords() -> Vec<&'static str> {
    [token::WORDS, token::CLAUSES].concat()
}

/// Parses a formula that is a part of a text, and reports what is wrong with it.
pub(crate) fn parse_formula(text: &str, part: Range<usize>) -> (Option<Formula>, Vec<Diagnostic>) {
    let (tokens, mut errors) = lexer::tokenize(&text[..part.end], part.start);
    let (formula, about_syntax) = parser::parse_formula(text, tokens);
    errors.extend(about_syntax);
    (formula.filter(|_| errors.is_empty()), quotient_kit::first_errors(errors))
}
