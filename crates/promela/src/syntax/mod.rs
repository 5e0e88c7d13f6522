//! From text to tree: preprocessor, lexer, parser.

mod parser;
mod preprocessor;
mod token;
pub(crate) mod tree;

use quotient_ir::{Diagnostic, Source};

pub(crate) use self::parser::KEYWORDS;
pub(crate) use self::preprocessor::{Macros, Uses, included_files, named_numbers};

/// Reads a text. The tree holds what could be understood of it.
pub(crate) fn parse(source: &Source, definitions: &[(String, String)]) -> (tree::Specification, Uses, Vec<Diagnostic>) {
    let (tree, uses, _, diagnostics) = parse_with_macros(source, definitions);
    (tree, uses, diagnostics)
}

/// Reads a text, and what it says about macros.
pub(crate) fn parse_with_macros(
    source: &Source,
    definitions: &[(String, String)],
) -> (tree::Specification, Uses, Macros, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let preprocessor::Preprocessed { tokens, uses, macros } =
        preprocessor::preprocess(source, definitions, &mut diagnostics);
    let is_preprocessed = !diagnostics.iter().any(Diagnostic::is_error);
    let mut tree = parser::parse(source, tokens, &mut diagnostics);
    tree.is_read_but_for_formulas &= is_preprocessed;
    (tree, uses, macros, diagnostics)
}
