//! `quotient verify`: checks a certificate of symmetries against the text of a model.

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use quotient::ir::{Diagnostic, Source, Span};
use quotient::{Certificate, CertificateVerdict, Control, Error, Invalid, Limits, Model};

use crate::arguments::{Format, ResourceArguments, VerifyArguments};
use crate::commands::{language, show_warnings};
use crate::failure::{Failure, HOLDS, INCONCLUSIVE, VIOLATED};
use crate::invocation::Invocation;
use crate::render::certificate;
use crate::terminal::{Palette, print, print_with};

/// Runs the command.
pub(crate) fn run(arguments: &VerifyArguments, invocation: &Invocation) -> Result<ExitCode, Failure> {
    let ResourceArguments { max_memory, timeout } = arguments.resources;
    let control = Control::start(&Limits { max_memory, timeout, ..Limits::default() });
    let certificate = read(&arguments.certificate)?;
    let options = quotient::LoadOptions { language: arguments.language.map(language), ..certificate.load_options() };
    let model = Model::load(&arguments.path, &options, &control)?;
    show_warnings(&model);
    let found = quotient::verify(&certificate, &model, &control)?;
    match arguments.format {
        Format::Human => print(&certificate::human(&model, &found, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| certificate::json(writer, &model, &found, invocation))?,
    };
    Ok(ExitCode::from(match found.verdict {
        CertificateVerdict::Certified => HOLDS,
        CertificateVerdict::Refuted(_) => VIOLATED,
        CertificateVerdict::Undecided(_) => INCONCLUSIVE,
    }))
}

/// Reads a certificate.
fn read(path: &Path) -> Result<Certificate, Failure> {
    let name = path.to_string_lossy();
    let bytes = File::open(path).and_then(quotient::read).map_err(|error| Error::File {
        path: name.clone().into_owned(),
        message: format!("cannot read `{name}`: {error}"),
    })?;
    let text = String::from_utf8_lossy(&bytes);
    serde_json::from_str(&text).map_err(|error| {
        let span = span_at(&text, error.line(), error.column());
        let message = format!("this is not a certificate: {error}");
        let help = "`quotient detect --certificate FILE` writes one";
        let diagnostics = vec![Diagnostic::error("bad-certificate", message, span).with_help(help)];
        Error::Model(Box::new(Invalid { source: Source::new(name, text.as_ref()), diagnostics })).into()
    })
}

/// The location of a line and a column, both counted from 1.
fn span_at(text: &str, line: usize, column: usize) -> Span {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let offset = (start + column.saturating_sub(1)).min(text.len());
    Span::new(offset, offset)
}
