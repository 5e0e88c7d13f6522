//! From the text of a B machine to its syntax tree, in ASCII or in mathematical notation.

mod lexer;
mod parser;
#[cfg(test)]
mod tests;
mod token;
pub(crate) mod tree;

use std::ops::Range;

use quotient_ir::Diagnostic;
use tree::Machine;

/// How many errors of one file are reported. More would hide the first ones, which matter most.
const MAXIMUM_ERRORS: usize = 50;

/// How high the tree of a machine may be. Whatever walks it does so on a stack for that height.
pub(crate) const MAXIMUM_HEIGHT: u32 = 2000;

/// Parses the machine in a part of a text: the tree of what could be parsed, and every syntax error, in source order.
pub(crate) fn parse(text: &str, part: Range<usize>) -> (Machine, Vec<Diagnostic>) {
    let (tokens, mut errors) = lexer::tokenize(&text[..part.end], part.start);
    let (machine, about_syntax) = parser::parse(text, tokens);
    errors.extend(about_syntax);
    errors.sort_by_key(|it| it.primary.as_ref().map(|label| label.span.start));
    if let Some(last) = errors.get(MAXIMUM_ERRORS) {
        let span = last.primary.as_ref().map(|label| label.span).unwrap_or_default();
        errors.truncate(MAXIMUM_ERRORS);
        errors.push(
            Diagnostic::error("too-many-errors", format!("more than {MAXIMUM_ERRORS} errors"), span)
                .with_label("the file is not checked from here on"),
        );
    }
    (machine, errors)
}
