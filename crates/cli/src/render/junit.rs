//! Results as JUnit XML: a test suite for the model, a test case for each property. Build servers agree on little more
//! than `testsuites`, `testsuite`, `testcase`, `failure`, `error` and `skipped`, so only these are used.

use std::fmt::Write;
use std::time::Duration;

use quotient_ir::{Diagnostic, Source};

use crate::invocation::Invocation;
use crate::render::diagnostics::{self, Lines};
use crate::render::human::Outcome;
use crate::render::results::{PropertyResult, PropertyStatus, property_results};
use crate::render::trace::TraceRenderer;
use crate::terminal::Palette;

/// A test case without its surroundings.
struct Case {
    status: PropertyStatus,
    text: String,
}

/// The result of `check`.
pub(crate) fn check(outcome: &Outcome<'_>, invocation: &Invocation) -> String {
    let model = outcome.model;
    let lines = Lines::new(model.source());
    let renderer = TraceRenderer::new(model.ir(), model.layout(), Palette::PLAIN);
    let name = &model.source().name;
    let cases = property_results(outcome, &lines).into_iter().map(|result| {
        let PropertyResult { kind, title, status, message, claimed, trace, .. } = result;
        let run = trace.map(|trace| renderer.trace(trace)).unwrap_or_default();
        let mut text = format!("    <testcase name=\"{}\" classname=\"{}\"", attribute(&title), attribute(name));
        if let Some(place) = claimed {
            let _ = write!(text, " file=\"{}\" line=\"{}\"", attribute(place.file), place.line);
        }
        text.push_str(&match status {
            PropertyStatus::Holds => "/>\n".to_owned(),
            PropertyStatus::Violated => format!(">\n{}    </testcase>\n", element("failure", kind, &message, &run)),
            PropertyStatus::Failed => format!(">\n{}    </testcase>\n", element("error", kind, &message, &run)),
            PropertyStatus::Open => {
                format!(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", attribute(&message))
            }
        });
        Case { status, text }
    });
    let hash = model.hash().map(|hash| hash.to_string()).unwrap_or_default();
    suite(name, &hash, outcome.report.elapsed, &cases.collect::<Vec<_>>(), invocation)
}

/// A model that cannot be checked: one test case, which is an error.
pub(crate) fn failure(source: &Source, diagnostics: &[Diagnostic], invocation: &Invocation) -> String {
    let message = diagnostics.first().map(|diagnostic| diagnostic.message.as_str()).unwrap_or_default();
    let code = diagnostics.first().map_or("error", |diagnostic| diagnostic.code);
    let shown = diagnostics::render(source, diagnostics, Palette::PLAIN);
    let name = attribute(&source.name);
    let text = format!(
        "    <testcase name=\"model\" classname=\"{name}\">\n{}    </testcase>\n",
        element("error", code, message, &shown)
    );
    suite(&source.name, "", Duration::ZERO, &[Case { status: PropertyStatus::Failed, text }], invocation)
}

fn suite(name: &str, hash: &str, elapsed: Duration, cases: &[Case], invocation: &Invocation) -> String {
    let count = |status| cases.iter().filter(|case| case.status == status).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6}\"",
        cases.len(),
        count(PropertyStatus::Violated),
        count(PropertyStatus::Failed),
        count(PropertyStatus::Open),
        elapsed.as_secs_f64()
    );
    // The JUnit schema has no time zone.
    let date = invocation.date.trim_end_matches('Z');
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<testsuites name=\"quotient\" {counts}>");
    let _ = writeln!(text, "  <testsuite name=\"{}\" {counts} timestamp=\"{date}\">", attribute(name));
    let _ = writeln!(text, "    <properties>");
    let _ = writeln!(text, "      <property name=\"version\" value=\"{}\"/>", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "      <property name=\"sha256\" value=\"{hash}\"/>");
    for (constant, value) in &invocation.definitions {
        let value = value.as_str().unwrap_or_default();
        let _ = writeln!(text, "      <property name=\"-D {}\" value=\"{}\"/>", attribute(constant), attribute(value));
    }
    let _ = writeln!(text, "    </properties>");
    text.extend(cases.iter().map(|case| case.text.as_str()));
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// A failure or an error, with a text in it.
fn element(name: &str, kind: &str, message: &str, text: &str) -> String {
    let (kind, message, text) = (attribute(kind), attribute(message), content(text));
    format!("      <{name} type=\"{kind}\" message=\"{message}\">{text}</{name}>\n")
}

/// Text inside an element. Characters that are invalid in XML are replaced.
fn content(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => escaped.push(character),
            _ => escaped.push(char::REPLACEMENT_CHARACTER),
        }
    }
    escaped
}

/// Text in an attribute, where line breaks would become spaces.
fn attribute(text: &str) -> String {
    content(text)
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
        .replace('\n', "&#10;")
        .replace('\r', "&#13;")
        .replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::{attribute, content};

    #[test]
    fn what_xml_does_not_take_is_escaped() {
        assert_eq!(content("a < b & c > \"d\""), "a &lt; b &amp; c &gt; \"d\"");
        assert_eq!(attribute("\"x\"\n'y'\t"), "&quot;x&quot;&#10;&apos;y&apos;&#9;");
        assert_eq!(content("\u{1b}[1m\u{0}\u{ffff}→𝔾"), "\u{fffd}[1m\u{fffd}\u{fffd}→𝔾");
        assert_eq!(content("]]>"), "]]&gt;");
    }
}
