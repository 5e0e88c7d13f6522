//! Promela: the language of SPIN, read into a [`Model`](quotient_ir::Model).
//!
//! The steps of a model are those of SPIN without its optimisations (`spin -a -o1 -o2 -o3`). `syntax` has the
//! preprocessor and the parser. In `lower`, `flow` has the control points of a process and the meaning of statements;
//! `creation` leaves out [orders that nobody can tell
//! apart](../../../docs/adr/0027-orders-that-nobody-can-tell-apart.md), which break symmetries, and `private` states
//! between steps that [concern one process](../../../docs/adr/0037-private-points.md). Formulas are read by a parser
//! of their own, after macros (`lower/formulas.rs`). `outline` and `conditions` are for editors and for conditions
//! given separately. Knows nothing of other languages, symmetry or engines.

mod conditions;
mod lower;
mod outline;
mod syntax;

use quotient_ir::{Diagnostic, Label, Source};
use quotient_kit::outline::Builder;
use quotient_kit::{FrontEnd, LabelChecks, LoadOptions, Loaded, Words};

use self::syntax::tree::Formula;

/// The front end of Promela.
pub static LANGUAGE: FrontEnd = FrontEnd {
    name: "Promela",
    read: load,
    files: syntax::included_files,
    parse: syntax_errors,
    definitions: outline,
    words: Words { keywords, any_case: false, may_begin_with_underscore: true },
    numbers: Some(syntax::named_numbers),
    conditions: conditions::CONDITIONS,
    layout: None,
};

/// Parses and lowers a Promela model.
fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let (mut tree, uses, mut diagnostics) = syntax::parse(&source, &options.constants);
    let is_read = !diagnostics.iter().any(Diagnostic::is_error);
    if !is_read && !tree.is_read_but_for_formulas {
        return Err(finish(diagnostics, &uses));
    }
    let mut labels = options.labels;
    if options.states_only {
        // An expression to evaluate claims nothing.
        tree.formulas.retain(Formula::is_watched);
        labels = LabelChecks { acceptance: Some(false), progress: false };
    }
    let settings = lower::Settings {
        check_assertions: !options.ignore_assertions,
        watch_claims: options.watch_claims,
        labels,
        max_processes: options.max_processes,
        merges_orders: options.merges_orders,
    };
    let (model, about_meaning) = lower::lower(&source, &tree, settings);
    // With formulas missing, warnings might be wrong.
    diagnostics.extend(about_meaning.into_iter().filter(|it| is_read || it.is_error()));
    let diagnostics = finish(diagnostics, &uses);
    match model {
        Some(model) if !diagnostics.iter().any(Diagnostic::is_error) => Ok(Loaded { model, warnings: diagnostics }),
        _ => Err(diagnostics),
    }
}

/// The definitions of all files and their uses.
fn outline(source: &Source) -> Builder<'_> {
    let (tree, _, macros, _) = syntax::parse_with_macros(source, &[]);
    outline::outline(source, &tree, &macros)
}

/// The errors that the preprocessor and the parser find.
fn syntax_errors(source: &Source) -> Vec<Diagnostic> {
    let (_, uses, diagnostics) = syntax::parse(source, &[]);
    finish(diagnostics, &uses)
}

/// The words that cannot be names.
fn keywords() -> Vec<&'static str> {
    syntax::KEYWORDS.to_vec()
}

/// Diagnostics in the order of the text, each once; one about the expansion of a macro shows the macro.
fn finish(mut diagnostics: Vec<Diagnostic>, uses: &syntax::Uses) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
    diagnostics.dedup();
    for diagnostic in &mut diagnostics {
        let Some((name, definition)) = diagnostic.primary.as_ref().and_then(|label| uses.get(&label.span)) else {
            continue;
        };
        if diagnostic.secondary.iter().all(|label| label.span != *definition) {
            let text = format!("in what the macro `{name}` stands for");
            diagnostic.secondary.push(Label { span: *definition, text });
        }
    }
    diagnostics
}
