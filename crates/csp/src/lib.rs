//! CSP#: the language of PAT, read into a [`Model`](quotient_ir::Model).
//!
//! `syntax` has the form of the language. In `lower`, `steps` is the operational semantics, `objects` PAT's library,
//! and `claims` what is asserted: formulas have a parser of their own, and events are values of a variable. `outline`
//! and `conditions` are for editors and for conditions given separately. Knows nothing of other languages, symmetry or
//! engines.

mod conditions;
mod lower;
mod outline;
mod syntax;

use quotient_ir::{Diagnostic, Source};
use quotient_kit::outline::Builder;
use quotient_kit::{FrontEnd, LoadOptions, Loaded, Words, first_errors};

/// The front end of CSP#.
pub static LANGUAGE: FrontEnd = FrontEnd {
    name: "CSP#",
    read: load,
    files: |_| Vec::new(),
    parse: syntax_errors,
    definitions: outline,
    words: Words { keywords, any_case: false, may_begin_with_underscore: true },
    numbers: None,
    conditions: conditions::CONDITIONS,
    layout: None,
};

/// Parses and lowers a CSP# model.
fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let (tree, mut diagnostics) = syntax::parse(&source);
    if diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(lower::unsupported_imports(&tree));
        diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
        return Err(first_errors(diagnostics));
    }
    let (model, about_meaning) = lower::lower(&source, &tree, &options.constants);
    diagnostics.extend(about_meaning);
    Loaded::unless_errors(model, diagnostics)
}

/// The definitions of a text and their uses.
fn outline(source: &Source) -> Builder<'_> {
    outline::outline(source, &syntax::parse(source).0)
}

/// The errors that the parser finds.
fn syntax_errors(source: &Source) -> Vec<Diagnostic> {
    syntax::parse(source).1
}

/// The words that cannot be names.
fn keywords() -> Vec<&'static str> {
    syntax::KEYWORDS.to_vec()
}
