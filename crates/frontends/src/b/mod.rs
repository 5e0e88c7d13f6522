//! B: classical B machines, as ProB and Atelier B read them, brought to a [`Model`](quotient_ir::Model).
//!
//! `syntax` reads the text, `typing` puts machines together and types them (`core`, `types`), `sizing`
//! fixes deferred sets and constants with the values of `evaluation`, and `lower` makes the model.

mod core;
mod evaluation;
mod lower;
mod settings;
mod sizing;
mod syntax;
mod types;
mod typing;

use std::rc::Rc;

use quotient_ir::{Diagnostic, Source};

use crate::{LoadOptions, Loaded};

/// The stack that a machine of the greatest height needs, with room to spare. Only what is used of it
/// takes memory.
const STACK_BYTES: usize = 1 << 30;

/// Parses, types and lowers a machine.
pub(crate) fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || read(source, options));
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                let message = format!("there is no memory to read the machine: {error}");
                Err(vec![Diagnostic {
                    primary: None,
                    ..Diagnostic::error("no-memory", message, quotient_ir::Span::default())
                }])
            }
        }
    })
}

fn read(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let (machine, mut diagnostics) = syntax::parse(&source.text, 0..source.text.len());
    let library = typing::Library::default();
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(sorted(diagnostics));
    }
    let mut settings = settings::Settings::new(&machine, options, &mut diagnostics);
    let (mut core, types, about_types) = typing::elaborate(&source.text, &Rc::new(machine), &library, &settings);
    diagnostics.extend(about_types);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(sorted(diagnostics));
    }
    let named = sizing::size_sets(&mut core, &mut settings, &mut diagnostics);
    let solutions = sizing::solve_constants(&core, &types, &mut settings, &named, &mut diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(sorted(diagnostics));
    }
    let (model, about_meaning) = lower::lower(source, &core, &types, &settings, &solutions);
    diagnostics.extend(about_meaning);
    diagnostics.extend(settings.warning());
    let diagnostics = sorted(diagnostics);
    match model {
        Some(model) if !diagnostics.iter().any(Diagnostic::is_error) => Ok(Loaded { model, warnings: diagnostics }),
        _ => Err(diagnostics),
    }
}

fn sorted(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
    diagnostics.dedup();
    diagnostics
}
