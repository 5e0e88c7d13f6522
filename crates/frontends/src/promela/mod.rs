//! Promela: the language of SPIN, read into a [`Model`](quotient_ir::Model).
//!
//! The steps of a model are those of SPIN without its optimisations (`spin -a -o1 -o2 -o3`).

mod lower;
mod syntax;

use quotient_ir::{Diagnostic, Source};

use crate::{LoadOptions, Loaded};

/// Parses and lowers a Promela model.
pub(crate) fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let (tree, mut diagnostics) = syntax::parse(&source, &options.constants);
    if diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
        return Err(diagnostics);
    }
    let settings = lower::Settings { check_assertions: !options.ignore_assertions, watch_claims: options.watch_claims };
    let (model, about_meaning) = lower::lower(&source, &tree, settings);
    diagnostics.extend(about_meaning);
    diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
    diagnostics.dedup();
    match model {
        Some(model) if !diagnostics.iter().any(Diagnostic::is_error) => Ok(Loaded { model, warnings: diagnostics }),
        _ => Err(diagnostics),
    }
}
