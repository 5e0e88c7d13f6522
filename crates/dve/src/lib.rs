//! DVE: the language of DiVinE and of the BEEM benchmark, read into a [`Model`](quotient_ir::Model).
//!
//! `syntax` has the form of the language. In `lower`, `rules` has the meaning of transitions and `property` the
//! automata of properties. `outline` and `conditions` are for editors and for conditions given separately. Knows
//! nothing of other languages, symmetry or engines.

mod conditions;
mod lower;
mod outline;
mod syntax;

use quotient_ir::{Diagnostic, Source, Span};
use quotient_kit::outline::Builder;
use quotient_kit::{FrontEnd, LoadOptions, Loaded, Words, first_errors};

/// The front end of DVE.
pub static LANGUAGE: FrontEnd = FrontEnd {
    name: "DVE",
    read: load,
    files: |_| Vec::new(),
    parse: syntax_errors,
    definitions: outline,
    words: Words { keywords, any_case: false, may_begin_with_underscore: true },
    numbers: None,
    conditions: conditions::CONDITIONS,
    layout: None,
};

/// Parses and lowers a DVE system.
fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    if let Some((name, _)) = options.constants.first() {
        let message = format!("`{name}` cannot be overridden: constants of DVE models are fixed in the text");
        let error = Diagnostic::error("no-such-constant", message, Span::default())
            .with_help("edit the declaration, or generate the text with a macro processor, as BEEM does with m4");
        return Err(vec![Diagnostic { primary: None, ..error }]);
    }
    let (tree, mut diagnostics) = syntax::parse(&source);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(first_errors(diagnostics));
    }
    let (model, about_meaning) = lower::lower(&source, &tree);
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
