//! B: classical B machines, as ProB and Atelier B read them, translated to a [`Model`](quotient_ir::Model).
//!
//! `syntax` parses the text, `typing` composes machines and types them (`core`, `types`), `sizing` fixes deferred sets
//! and constants with the values of `evaluation`, and `lower` builds the model. Temporal formulas are lowered here,
//! since runs that end are finite: `typing/temporal.rs` reads atoms, `lower/temporal.rs` gives the meaning.
//! Expressions to evaluate are read by `lower/calls.rs`. `settings` come from outside of the formulas; `outline` and
//! `conditions` are for editors and for conditions given separately. Knows nothing of other languages, symmetry or
//! engines.

mod conditions;
mod core;
mod evaluation;
mod lower;
mod outline;
mod settings;
mod sizing;
mod syntax;
mod types;
mod typing;

use std::ops::Range;
use std::rc::Rc;

use quotient_ir::{Diagnostic, Source};
use quotient_kit::outline::Builder;
use quotient_kit::{FrontEnd, LoadOptions, Loaded, Words};

use syntax::tree;

/// The stack that a machine of the greatest height needs, with a margin. Only the used part takes memory.
const STACK_BYTES: usize = 1 << 30;

/// The file extensions of machines, in the order in which they are searched for.
const EXTENSIONS: [&str; 4] = ["mch", "ref", "imp", "sys"];

/// Works where the height of a tree does no harm.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// The front end of B.
pub static LANGUAGE: FrontEnd = FrontEnd {
    name: "B",
    read: load,
    files: mentioned_files,
    parse: syntax_errors,
    definitions: outline,
    words: Words { keywords, any_case: false, may_begin_with_underscore: false },
    numbers: None,
    conditions: conditions::CONDITIONS,
    layout: None,
};

/// Parses, types and lowers a machine.
fn load(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
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
fn mentioned_files(source: &Source) -> Vec<Vec<String>> {
    on_large_stack(|| {
        let machines: Vec<tree::Machine> =
            parts(source).into_iter().map(|part| syntax::parse(&source.text, part).0).collect();
        let mut wanted: Vec<String> = Vec::new();
        let mut files: Vec<Vec<String>> = Vec::new();
        for machine in &machines {
            for file in &machine.definition_files {
                let is_here = source.files.iter().any(|(_, known)| is_file(known, &file.text));
                let group = vec![file.text.to_string()];
                if !is_here && !files.contains(&group) {
                    files.push(group);
                }
            }
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
        files.extend(wanted.iter().map(|name| EXTENSIONS.map(|extension| format!("{name}.{extension}")).to_vec()));
        files
    })
    .unwrap_or_default()
}

/// The definitions of all files and their uses.
fn outline(source: &Source) -> Builder<'_> {
    on_large_stack(|| outline::outline(source)).unwrap_or_else(|_| Builder::new(source))
}

/// The errors that the parser finds.
fn syntax_errors(source: &Source) -> Vec<Diagnostic> {
    let all = || parts(source).into_iter().flat_map(|part| syntax::parse(&source.text, part).1).collect();
    on_large_stack(all).unwrap_or_default()
}

/// The words that cannot be names.
fn keywords() -> Vec<&'static str> {
    syntax::keywords()
}

/// Whether a path is that of a file as it is mentioned.
fn is_file(path: &str, mentioned: &str) -> bool {
    let name = |text: &str| text.rsplit(['/', '\\']).next().unwrap_or(text).to_owned();
    name(path) == name(mentioned)
}

/// Adds the definitions in the files that a machine mentions, and that these mention. Its own come first.
fn add_definitions(machine: &mut tree::Machine, files: &[(String, tree::Machine)], diagnostics: &mut Vec<Diagnostic>) {
    let mut pending = machine.definition_files.clone();
    let mut done: Vec<std::sync::Arc<str>> = Vec::new();
    while let Some(file) = pending.pop() {
        if done.contains(&file.text) {
            continue;
        }
        done.push(file.text.clone());
        let Some((_, found)) = files.iter().find(|(path, _)| is_file(path, &file.text)) else {
            let message = format!("there is no file `{}` of definitions", file.text);
            let help = "put it into the folder of this machine; what is defined there is not known";
            diagnostics.push(Diagnostic::warning("definition-file", message, file.span).with_help(help));
            continue;
        };
        for definition in &found.definitions {
            if !machine.definitions.iter().any(|known| known.name.text == definition.name.text) {
                machine.definitions.push(definition.clone());
            }
        }
        pending.extend(found.definition_files.iter().cloned());
    }
}

fn read(source: Source, options: &LoadOptions) -> Result<Loaded, Vec<Diagnostic>> {
    let mut parts = parts(&source).into_iter();
    let (mut machine, mut diagnostics) = syntax::parse(&source.text, parts.next().unwrap_or_default());
    if machine.name.is_none() && diagnostics.is_empty() {
        let message = "these are definitions only: a B machine starts with `MACHINE Name`";
        diagnostics.push(Diagnostic::error("syntax", message, quotient_ir::Span::default()));
    }
    let mut others = Vec::new();
    let mut definition_files = Vec::new();
    for part in parts {
        let start = u32::try_from(part.start).unwrap_or(u32::MAX);
        let (other, errors) = syntax::parse(&source.text, part);
        diagnostics.extend(errors);
        match &other.name {
            Some(_) => others.push(other),
            None => definition_files.push((source.file_at(start).0.to_owned(), other)),
        }
    }
    let mut machines = typing::Machines::default();
    add_definitions(&mut machine, &definition_files, &mut diagnostics);
    for mut other in others {
        add_definitions(&mut other, &definition_files, &mut diagnostics);
        if let Some(name) = &other.name {
            machines.insert(name.text.to_string(), Rc::new(other));
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
    let sizing = sizing::size_sets(&mut core, &mut settings, &mut diagnostics);
    let solutions = sizing::solve_constants(&mut core, &types, &mut settings, &sizing, &mut diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(sorted(diagnostics));
    }
    sizing::check_members(&core, &mut diagnostics);
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
