//! From the text of a Murphi model to its syntax tree: the whole language of rumur, and CMurphi's additions.

mod format;
mod lexer;
mod parser;
#[cfg(test)]
mod rendering;
#[cfg(test)]
mod tests;
mod token;
pub(crate) mod tree;

pub(crate) use format::format;
use lexer::Strings;
use quotient_ir::{Diagnostic, Source};
use tree::Tree;

/// How deep a model may nest, counting expressions, types, statements and rules together. No phase
/// after the parser needs a limit of its own: every tree it gives out is at most this high, with a
/// few nodes more for the parts of a single construct.
pub(crate) const MAXIMUM_NESTING: u32 = 256;

/// Parses a model: the tree of what could be parsed, and every syntax error, in source order.
pub(crate) fn parse(source: &Source) -> (Tree, Vec<Diagnostic>) {
    let Some((tree, diagnostics)) = parse_with(&source.text, Strings::OverLines) else {
        return parse_with(&source.text, Strings::InLines).unwrap_or_default();
    };
    let count = diagnostics.iter().filter(|it| it.is_error()).count();
    if count == 0 {
        return (tree, diagnostics);
    }
    // If closing quotes are missing, the text between strings is read as strings and vice versa. If ending each string
    // at the end of its line gives no more errors, that is what happened.
    match parse_with(&source.text, Strings::InLines) {
        Some((other_tree, other))
            if other.iter().any(|it| it.code == "unterminated-string")
                && other.iter().filter(|it| it.is_error()).count() <= count + 1 =>
        {
            (other_tree, other)
        }
        _ => (tree, diagnostics),
    }
}

/// The tokens of a text, as they are written.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let read = lexer::tokenize(text, Strings::OverLines).or_else(|| lexer::tokenize(text, Strings::InLines));
    let tokens = read.map(|(tokens, _)| tokens).unwrap_or_default();
    tokens.iter().map(|token| &text[token.span.start as usize..token.span.end as usize]).collect()
}

/// The words that cannot be names, as they are usually spelt.
pub(crate) fn keywords() -> &'static [&'static str] {
    token::TokenKind::KEYWORDS
}

fn parse_with(text: &str, strings: Strings) -> Option<(Tree, Vec<Diagnostic>)> {
    let (tokens, mut errors) = lexer::tokenize(text, strings)?;
    let parser::Output { tree, errors: about_syntax, warnings, formulas } = parser::parse(text, tokens);
    let in_formula = |error: &Diagnostic| {
        let place = error.primary.as_ref().map(|label| label.span);
        place.is_some_and(|place| formulas.iter().any(|it| it.start <= place.start && place.end <= it.end))
    };
    errors.retain(|error| error.code == "unterminated-comment" || !in_formula(error));
    errors.extend(about_syntax);
    let mut diagnostics = quotient_kit::first_errors(errors);
    diagnostics.extend(warnings);
    diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span.start));
    Some((tree, diagnostics))
}
