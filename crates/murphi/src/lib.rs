//! Murphi: the language of rumur and CMurphi, read into a [`Model`](quotient_ir::Model).
//!
//! `syntax` has the form of the language, and the formatter (`syntax/format.rs`); `lower` has its meaning. `outline`
//! and `conditions` are for editors and for conditions given separately. Knows nothing of other languages, symmetry or
//! engines.

mod conditions;
mod lower;
mod outline;
mod syntax;

use quotient_ir::{Diagnostic, Source};
use quotient_kit::outline::Builder;
use quotient_kit::{FrontEnd, LoadOptions, Loaded, Words};

use self::syntax::tree::{Declaration, Expr, ExprKind, Item};

/// Errors that may be consequences of a declaration lost to a syntax error. After a syntax error they are unreliable,
/// so they are withheld until the syntax is correct.
const FOLLOW_UPS: &[&str] = &[
    "no-result",
    "no-start",
    "unknown-constant",
    "unknown-field",
    "unknown-function",
    "unknown-name",
    "unknown-type",
    "wrong-arity",
];

/// The front end of Murphi.
pub static LANGUAGE: FrontEnd = FrontEnd {
    name: "Murphi",
    read: load,
    files: |_| Vec::new(),
    parse: syntax_errors,
    definitions: outline,
    words: Words { keywords, any_case: true, may_begin_with_underscore: false },
    numbers: Some(named_numbers),
    conditions: conditions::CONDITIONS,
    layout: Some(syntax::format),
};

/// Parses and lowers a Murphi model.
fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let (tree, mut diagnostics) = syntax::parse(&source);
    let syntax_is_right = !diagnostics.iter().any(Diagnostic::is_error);
    let (model, about_meaning) = lower::lower(&source, &tree, options);
    diagnostics.extend(about_meaning.into_iter().filter(|it| syntax_is_right || !FOLLOW_UPS.contains(&it.code)));
    diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
    match model {
        Some(model) if !diagnostics.iter().any(Diagnostic::is_error) => Ok(Loaded { model, warnings: diagnostics }),
        _ => Err(diagnostics),
    }
}

/// The definitions of a text and their uses.
fn outline(source: &Source) -> Builder<'_> {
    outline::outline(source, &syntax::parse(source).0)
}

/// The words that cannot be names.
fn keywords() -> Vec<&'static str> {
    // The two values are read in any case, as keywords are.
    [syntax::keywords(), &["false", "true"]].concat()
}

/// The errors that the parser finds.
fn syntax_errors(source: &Source) -> Vec<Diagnostic> {
    syntax::parse(source).1
}

/// The constants that are numbers, and all tokens of a text.
fn named_numbers(source: &Source) -> (Vec<(String, i64)>, Vec<&str>) {
    let (tree, _) = syntax::parse(source);
    let numbers = tree.items.iter().filter_map(|item| match item {
        Item::Declaration(Declaration::Constant { name, value: Expr { kind: ExprKind::Number(value), .. } }) => {
            Some((name.text.clone(), *value))
        }
        _ => None,
    });
    (numbers.collect(), syntax::tokens(&source.text))
}
