//! Results as SARIF 2.1.0 (OASIS): a result for each property, the run to a violation as a code flow.

use std::io::{self, Write};

use quotient_ir::{Diagnostic, Severity, Source, Trace};
use serde_json::{Map, Value, json};

use crate::invocation::Invocation;
use crate::render::diagnostics::{Lines, Location};
use crate::render::human::Outcome;
use crate::render::json::write;
use crate::render::results::{PropertyResult, PropertyStatus, property_results};
use crate::render::trace::TraceRenderer;
use crate::terminal::Palette;
use quotient::names::action_span;
use quotient::shown::StateShape;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The reporting rules: identifier and description.
const RULES: [(&str, &str); 7] = [
    ("invariant", "A condition holds in every reachable state"),
    ("assertion", "A condition holds in every reachable state (ASSERTIONS)"),
    ("cover", "A condition holds in some reachable state"),
    ("liveness", "A condition can be reached from every reachable state (AG EF)"),
    ("deadlock", "Every reachable state has a successor"),
    ("errors", "No step goes wrong: no failed assertion, undefined read or value out of range"),
    ("ltl", "A formula of linear temporal logic"),
];

/// The result of `check`.
pub(crate) fn check(
    writer: &mut dyn Write,
    outcome: &Outcome<'_>,
    exit_status: u8,
    invocation: &Invocation,
) -> io::Result<()> {
    let model = outcome.model;
    let lines = Lines::new(model.source());
    let mut log = Log::default();
    for result in property_results(outcome, &lines) {
        let PropertyResult { kind, title, status, message, place, trace, .. } = result;
        let (outcome_kind, level) = match status {
            PropertyStatus::Holds => ("pass", "none"),
            PropertyStatus::Violated => ("fail", "error"),
            PropertyStatus::Open | PropertyStatus::Failed => ("open", "none"),
        };
        // A deadlock has no location in the text, so it is located at the model as a whole.
        let whole = Location { file: &model.source().name, line: 1, column: 1 };
        let mut entry = log.result(kind, level, &format!("{title}: {message}"), place.as_ref().unwrap_or(&whole));
        entry.insert("kind".into(), outcome_kind.into());
        if let Some(trace) = trace {
            entry.insert(
                "codeFlows".into(),
                json!([{ "threadFlows": [{ "locations": steps(outcome, &lines, trace) }] }]),
            );
        }
        log.results.push(entry.into());
    }
    log.add_diagnostics(model.source(), model.warnings());
    for file in model.files() {
        log.artifacts.push(json!({
            "location": { "uri": uri(&file.name) },
            "hashes": { "sha-256": file.hash.to_string() },
        }));
    }
    log.write(writer, true, exit_status, invocation)
}

/// A model that cannot be checked.
pub(crate) fn failure(
    writer: &mut dyn Write,
    source: &Source,
    diagnostics: &[Diagnostic],
    exit_status: u8,
    invocation: &Invocation,
) -> io::Result<()> {
    let mut log = Log::default();
    log.add_diagnostics(source, diagnostics);
    log.write(writer, false, exit_status, invocation)
}

/// The one run of a log.
#[derive(Default)]
struct Log {
    rules: Vec<(String, String)>,
    results: Vec<Value>,
    artifacts: Vec<Value>,
}

impl Log {
    /// A result, with its rule declared.
    fn result(&mut self, id: &str, level: &str, message: &str, place: &Location<'_>) -> Map<String, Value> {
        let index = self.rules.iter().position(|(known, _)| known == id).unwrap_or_else(|| {
            let text = RULES.iter().find(|(known, _)| *known == id).map_or(id, |(_, text)| text);
            self.rules.push((id.to_owned(), text.to_owned()));
            self.rules.len() - 1
        });
        let mut result = Map::new();
        result.insert("ruleId".into(), id.into());
        result.insert("ruleIndex".into(), index.into());
        result.insert("level".into(), level.into());
        result.insert("message".into(), json!({ "text": message }));
        result.insert("locations".into(), json!([{ "physicalLocation": physical(place) }]));
        result
    }

    fn add_diagnostics(&mut self, source: &Source, diagnostics: &[Diagnostic]) {
        let lines = Lines::new(source);
        for diagnostic in diagnostics {
            let level = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let whole = Location { file: &source.name, line: 1, column: 1 };
            let place = diagnostic.primary.as_ref().map_or(whole, |label| lines.place(label.span));
            let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
            let entry = self.result(diagnostic.code, level, &format!("{}{help}", diagnostic.message), &place);
            self.results.push(entry.into());
        }
    }

    fn write(
        self,
        writer: &mut dyn Write,
        succeeded: bool,
        exit_status: u8,
        invocation: &Invocation,
    ) -> io::Result<()> {
        let rules: Vec<Value> =
            self.rules.iter().map(|(id, text)| json!({ "id": id, "shortDescription": { "text": text } })).collect();
        let log = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": "quotient", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
                "invocations": [{
                    "executionSuccessful": succeeded,
                    "exitCode": exit_status,
                    "startTimeUtc": invocation.date,
                }],
                "columnKind": "unicodeCodePoints",
                "artifacts": self.artifacts,
                "results": self.results,
            }],
        });
        write(writer, &log)
    }
}

/// The steps of a run as locations of a thread flow.
fn steps(outcome: &Outcome<'_>, lines: &Lines<'_>, trace: &Trace) -> Vec<Value> {
    let (model, layout) = (outcome.model.ir(), outcome.model.layout());
    let renderer = TraceRenderer::new(model, layout, Palette::PLAIN);
    let shape = StateShape::new(model, layout);
    let step = |(number, step): (usize, &quotient_ir::TraceStep)| {
        let place = lines.place(action_span(model, step.action));
        let state: Map<String, Value> =
            shape.entries(&step.state).into_iter().map(|entry| (entry.name, json!({ "text": entry.value }))).collect();
        json!({
            "location": {
                "physicalLocation": physical(&place),
                "message": { "text": renderer.instance(step.action, &step.arguments) },
            },
            "executionOrder": number + 1,
            "state": state,
        })
    };
    trace.steps.iter().enumerate().map(step).collect()
}

fn physical(place: &Location<'_>) -> Value {
    json!({
        "artifactLocation": { "uri": uri(place.file) },
        "region": { "startLine": place.line, "startColumn": place.column },
    })
}

/// A path as a URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut text = String::new();
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with('/') {
        text.push_str("file://");
    } else if is_drive {
        text.push_str("file:///");
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(byte)),
            b':' if is_drive => text.push(':'),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("models/a b.m"), "models/a%20b.m");
        assert_eq!(uri("/tmp/ü.m"), "file:///tmp/%C3%BC.m");
        assert_eq!(uri("C:\\x\\y.m"), "file:///C:/x/y.m");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }
}
