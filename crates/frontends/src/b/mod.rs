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

use std::ops::Range;
use std::rc::Rc;

use quotient_ir::{Diagnostic, Source};

use crate::{LoadOptions, Loaded};
use syntax::tree;

/// The stack that a machine of the greatest height needs, with room to spare. Only what is used of it
/// takes memory.
const STACK_BYTES: usize = 1 << 30;

/// What files of machines end with, those that are looked for first at the front.
const EXTENSIONS: [&str; 4] = ["mch", "ref", "imp", "sys"];

/// Works where the height of a tree does no harm.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Parses, types and lowers a machine.
pub(crate) fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    on_large_stack(|| read(source, options)).unwrap_or_else(|error| {
        let message = format!("there is no memory to read the machine: {error}");
        Err(vec![Diagnostic { primary: None, ..Diagnostic::error("no-memory", message, quotient_ir::Span::default()) }])
    })
}

/// The parts of a source that are files of their own.
fn parts(source: &Source) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(source.files.iter().map(|(start, _)| *start));
    starts.map(|start| source.file_at(start).1).collect()
}

/// The files of the machines that those of a source mention and that are not among them.
pub(crate) fn mentioned_files(source: &Source) -> Vec<Vec<String>> {
    on_large_stack(|| {
        let machines: Vec<tree::Machine> =
            parts(source).into_iter().map(|part| syntax::parse(&source.text, part).0).collect();
        let mut wanted: Vec<String> = Vec::new();
        for machine in &machines {
            let groups = [&machine.sees, &machine.uses, &machine.includes, &machine.imports, &machine.extends];
            let mentioned = groups.into_iter().flatten().map(|reference| &reference.name.text);
            for name in mentioned.chain(machine.refines.as_ref().map(|name| &name.text)) {
                let name = name.rsplit('.').next().unwrap_or(name);
                let is_here = machines.iter().any(|it| it.name.as_ref().is_some_and(|known| *known.text == *name));
                if !is_here && !wanted.iter().any(|known| known == name) {
                    wanted.push(name.to_owned());
                }
            }
        }
        wanted.iter().map(|name| EXTENSIONS.map(|extension| format!("{name}.{extension}")).to_vec()).collect()
    })
    .unwrap_or_default()
}

fn read(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let mut parts = parts(&source).into_iter();
    let (machine, mut diagnostics) = syntax::parse(&source.text, parts.next().unwrap_or_default());
    let mut machines = typing::Machines::default();
    for part in parts {
        let (other, errors) = syntax::parse(&source.text, part);
        diagnostics.extend(errors);
        if let Some(name) = &other.name {
            machines.insert(name.text.to_string(), Rc::new(other.clone()));
        }
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(sorted(diagnostics));
    }
    let mut settings = settings::Settings::new(&machine, options, &mut diagnostics);
    let (mut core, types, about_types) = typing::elaborate(&source.text, &Rc::new(machine), &machines, &settings);
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
