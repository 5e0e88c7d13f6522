//! Runs as files: written in this program's format or in the Informal Trace Format (ITF) of Apalache and Quint, read
//! again, and checked step by step by the reference interpreter. SPIN's trails are read as well.

mod document;
mod follow;
mod itf;
mod json;
mod scalars;
mod trail;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use quotient_ir::{Diagnostic, Interpreter, Layout, Source, Span, Trace, replay};
use quotient_search::Subject;

use crate::error::Error;
use crate::identity::TextHash;
use crate::model::{LoadOptions, Model, read, unreadable};
use crate::names::{subject_kind, subject_name};
use crate::shown::describe_violation;
use json::Json;

pub use trail::TrailFile;

/// The name of this program's format, in its files.
const FORMAT: &str = "quotient-run";
/// Its version.
const VERSION: i64 = 1;

/// The formats that runs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFormat {
    /// This program's format, which is complete.
    Own,
    /// The Informal Trace Format: <https://apalache-mc.org/docs/adr/015adr-trace.html>.
    Itf,
}

impl RunFormat {
    /// The format that a file name implies: `.itf.json` or another `.json`.
    pub fn of_file_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        if name.ends_with(".itf.json") { Some(Self::Itf) } else { name.ends_with(".json").then_some(Self::Own) }
    }
}

/// The origin of a run that is written.
#[derive(Clone, Debug)]
pub struct RunOrigin<'a> {
    /// The command that found it.
    pub command: &'a str,
    /// The property that it is about, and its kind.
    pub property: Option<(String, &'a str)>,
    /// The violation at its end, as text, and the part of the model it concerns.
    pub violation: Option<(String, Option<Span>)>,
}

impl<'a> RunOrigin<'a> {
    /// The origin of a run of a model that a command has found, about a subject.
    pub fn new(command: &'a str, model: &Model, subject: Option<Subject>, trace: &Trace) -> Self {
        let property = subject.map(|subject| (subject_name(model.ir(), subject), subject_kind(model.ir(), subject)));
        let violation = trace.violation.as_ref().map(|violation| {
            let text = describe_violation(model.ir(), model.layout(), violation);
            (text.message, text.span)
        });
        Self { command, property, violation }
    }
}

/// Writes a run.
///
/// # Errors
/// If it cannot be written.
pub fn write_run(
    out: &mut dyn Write,
    format: RunFormat,
    model: &Model,
    origin: &RunOrigin<'_>,
    trace: &Trace,
) -> io::Result<()> {
    match format {
        RunFormat::Own => document::write(out, model, origin, trace),
        RunFormat::Itf => itf::write(out, model, origin, trace),
    }
}

/// A file with a run, before it is matched with a model.
#[derive(Debug)]
pub struct RunFile {
    source: Source,
    contents: Json,
    format: RunFormat,
}

/// A run that was read and matches its model.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// The run.
    pub trace: Trace,
    /// Notes for whoever replays it.
    pub notes: Vec<String>,
}

impl RunFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or there is no run in it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = File::open(path).and_then(read).map_err(|error| unreadable(path, &error))?;
        Self::from_text(&path.to_string_lossy(), &String::from_utf8_lossy(&bytes))
    }

    /// Reads a text, which is called by a name in messages.
    ///
    /// # Errors
    /// If there is no run in it.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        let source = Source::new(name, text);
        let checked = Json::parse(text).and_then(|contents| recognise(&contents).map(|format| (contents, format)));
        match checked {
            Ok((contents, format)) => Ok(Self { source, contents, format }),
            Err(misfit) => Err(misfit.in_file(&source)),
        }
    }

    /// The options to load the model with: the requested ones and those recorded in the run.
    ///
    /// # Errors
    /// If the two contradict each other.
    pub fn load_options(&self, asked: &LoadOptions) -> Result<LoadOptions, Error> {
        document::load_options(self.header(), asked).map_err(|misfit| misfit.in_file(&self.source))
    }

    /// The run as a run of a model: every step is checked by the reference interpreter.
    ///
    /// # Errors
    /// If it is not a run of the model; the message describes the first difference.
    pub fn run_of(&self, model: &Model) -> Result<RecordedRun, Error> {
        let interpreter = Interpreter::new(model.ir(), model.layout());
        let notes: Vec<String> = document::changed_text(self.header(), model).into_iter().collect();
        let trace = match self.format {
            RunFormat::Own => document::trace(&interpreter, &self.contents),
            RunFormat::Itf => itf::trace(&interpreter, &self.contents),
        };
        let checked = trace.and_then(|trace| match replay(&interpreter, &trace) {
            Ok(()) => Ok(trace),
            Err(error) => Err(fault_at(self.contents.span, format!("this is not a run of the model: {error}"))),
        });
        match checked {
            Ok(trace) => Ok(RecordedRun { trace, notes }),
            Err(misfit) if misfit.0.help.is_none() && !notes.is_empty() => {
                Err(misfit.with_help(notes.join("; ")).in_file(&self.source))
            }
            Err(misfit) => Err(misfit.in_file(&self.source)),
        }
    }

    /// The file's description of the origin of the run.
    fn header(&self) -> Option<&Json> {
        match self.format {
            RunFormat::Own => Some(&self.contents),
            RunFormat::Itf => self.contents.get("#meta").and_then(|meta| meta.get("quotient")),
        }
    }
}

/// The format of a file, or why it is unknown.
fn recognise(contents: &Json) -> Result<RunFormat, Misfit> {
    if contents.members().is_none() {
        return Err(fault_at(contents.span, "this is not a run: an object is expected"));
    }
    let Some(format) = contents.get("format") else {
        if contents.get("states").is_some() && contents.get("vars").is_some() {
            return Ok(RunFormat::Itf);
        }
        let help = "`check --trace-to FILE` and `simulate --trace-to FILE` write runs";
        let message =
            "this is not a run: it has neither the `format` of our own files nor the `vars` and `states` of ITF";
        return Err(fault_at(start_of(contents.span), message).with_help(help));
    };
    if format.as_text() != Some(FORMAT) {
        return Err(fault_at(format.span, format!("this is not a run: its format is not \"{FORMAT}\"")));
    }
    match contents.get("version") {
        Some(version) if version.as_integer() == Some(VERSION) => Ok(RunFormat::Own),
        Some(version) => {
            let help = format!("runs of version {VERSION} are read; write it again with this version of quotient");
            Err(fault_at(version.span, "this version of the format is not known").with_help(help))
        }
        None => Err(fault_at(start_of(contents.span), "`version` is missing")),
    }
}

/// What is wrong with a file, or how it fails to match a model.
#[derive(Debug)]
struct Misfit(Box<Diagnostic>);

impl Misfit {
    fn with_help(self, help: impl Into<String>) -> Self {
        Self(Box::new(self.0.with_help(help)))
    }
    /// The error with the text of the file.
    fn in_file(self, source: &Source) -> Error {
        Error::model(source.clone(), vec![*self.0])
    }
}

/// An error of a run file.
fn fault_at(span: Span, message: impl Into<String>) -> Misfit {
    Misfit(Box::new(Diagnostic::error("run-file", message, span)))
}

/// The opening bracket of a value, since the whole value would be too long to show.
fn start_of(span: Span) -> Span {
    Span { start: span.start, end: (span.start + 1).min(span.end) }
}

/// The hash of the model's files or, if it was built, of its text.
fn hash_of(model: &Model) -> String {
    model.hash().unwrap_or_else(|| TextHash::of(model.source().text.as_bytes())).to_string()
}

/// The names of a layout's slots, to list missing ones.
fn slot_names(layout: &Layout) -> impl Iterator<Item = &str> {
    layout.slots.iter().map(|slot| slot.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::Language;
    use crate::options::Options;
    use crate::plan::Plan;

    const TEXT: &str = r#"
        var x: 0..3; on: array [0..1] of boolean; m: multiset [2] of 0..1;
        startstate "zero" begin x := 0; clear on; end;
        ruleset i: 0..1 do rule "grow" x < 3 ==> begin x := x + 1; on[i] := !on[i]; if x < 2 then multisetadd(i, m); end; end; end;
        invariant "small" x < 3;
    "#;

    fn written(format: RunFormat) -> (Model, String) {
        let model = Model::from_text("counter", TEXT, Language::Murphi).expect("a model");
        let plan = Plan::new(&model, &Options::default().property("small")).expect("a plan");
        let report = plan.run().expect("a report");
        let trace = report.properties[0].trace.as_ref().expect("it is violated");
        let origin = RunOrigin { command: "check", property: None, violation: None };
        let mut text = Vec::new();
        write_run(&mut text, format, &model, &origin, trace).expect("memory can be written to");
        (model, String::from_utf8(text).expect("JSON is UTF-8"))
    }

    /// Every change of one byte, and every truncation, is a run of the model or a located error, never a panic.
    #[test]
    fn damaged_files() {
        for format in [RunFormat::Own, RunFormat::Itf] {
            let (model, text) = written(format);
            let replays = |text: &str| RunFile::from_text("run", text).and_then(|file| file.run_of(&model));
            assert!(replays(&text).expect("it is a run").trace.violation.is_some());
            for end in (0..text.len()).step_by(7) {
                assert!(replays(&text[..end]).is_err() || text[end..].trim().is_empty(), "{end}");
            }
            for at in (0..text.len()).step_by(5) {
                for byte in ['"', '9', '}', 'x'] {
                    let damaged = format!("{}{byte}{}", &text[..at], &text[at + 1..]);
                    if let Err(error) = replays(&damaged) {
                        let Error::Model(invalid) = error else { panic!("{error}") };
                        assert!(invalid.diagnostics[0].primary.is_some(), "{damaged}");
                    }
                }
            }
        }
    }
}
