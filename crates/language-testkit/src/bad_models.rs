//! What a front end says about bad models. Each file of a folder is read, and all its diagnostics are compared with a
//! snapshot. `INSTA_UPDATE=always cargo test` accepts new ones; without it, a difference fails.

use std::fmt::Write;
use std::path::Path;

use quotient_ir::{Diagnostic, Label, Severity, Source};
use quotient_kit::{FrontEnd, LoadOptions, source_from_bytes};

/// Everything the front end says about a file, as plain text.
fn report(language: &FrontEnd, name: &str, bytes: &[u8]) -> String {
    let source = match source_from_bytes(name, bytes) {
        Ok(source) => source,
        Err(diagnostic) => return render(&Source::new(name, ""), &[diagnostic]),
    };
    match language.load(source.clone(), &LoadOptions::default()) {
        Ok(loaded) => format!("accepted\n\n{}", render(&source, &loaded.warnings)),
        Err(diagnostics) => render(&source, &diagnostics),
    }
}

fn render(source: &Source, diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = writeln!(text, "{severity}[{}]: {}", diagnostic.code, diagnostic.message);
        if let Some(primary) = &diagnostic.primary {
            render_label(&mut text, source, primary, '^');
        }
        for secondary in &diagnostic.secondary {
            render_label(&mut text, source, secondary, '-');
        }
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(text, "  help: {help}");
        }
        text.push('\n');
    }
    text
}

/// The first line of the place, marked.
fn render_label(text: &mut String, source: &Source, label: &Label, mark: char) {
    let (line, column) = source.line_and_column(label.span.start);
    let content = source.text.lines().nth(line - 1).unwrap_or("");
    let length = source.text.get(label.span.range()).map_or(0, |it| it.lines().next().unwrap_or("").chars().count());
    let marks = mark.to_string().repeat(length.max(1));
    let _ = writeln!(text, "  {line}:{column}: {content}");
    let indent = format!("  {line}:{column}: ").chars().count() + column - 1;
    let _ = writeln!(text, "{}{marks} {}", " ".repeat(indent), label.text);
}

/// Reads every file of a folder and compares what is said about it, by name.
///
/// # Panics
/// If one differs, after all were compared.
pub fn compare(folder: &Path, language: &FrontEnd, compare: impl Fn(&str, String) + std::panic::RefUnwindSafe) {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of bad models is there")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut failed = Vec::new();
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str()).expect("bad models have plain names").to_owned();
        let bytes = std::fs::read(&path).expect("a bad model can be read");
        // One file that differs must not keep the others from being compared.
        let compared = std::panic::catch_unwind(|| compare(&name, report(language, &name, &bytes)));
        if compared.is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "these differ from their snapshots: {failed:?}");
}
