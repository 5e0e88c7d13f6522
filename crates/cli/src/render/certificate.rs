//! The outcome of checking a certificate, as text and as JSON.

use std::io::{self, Write};

use quotient::{Cause, CertificateVerdict, Finding, Model, Verification};
use quotient_ir::{Action, Span};

use crate::invocation::Invocation;
use crate::render::diagnostics::Lines;
use crate::render::header::Header;
use crate::render::json::{DiagnosticObject, diagnostic_objects, write};
use crate::render::quantity;
use crate::terminal::{Palette, visible};
use quotient::names::{action_arguments_text, action_span, action_title, joint_title, property_title};

#[derive(serde::Serialize)]
struct VerificationObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    verdict: &'static str,
    /// What is wrong or undecided.
    finding: Option<FindingObject<'a>>,
    /// The number of generators that passed.
    generators: usize,
    order: Option<String>,
    states: usize,
    exhaustive: bool,
    diagnostics: Vec<DiagnosticObject<'a>>,
}

#[derive(serde::Serialize)]
struct FindingObject<'a> {
    generator: Option<usize>,
    message: String,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
}

/// Text output: the verdict, the location of the failure, and how far runs were compared.
pub(crate) fn human(model: &Model, found: &Verification, palette: Palette) -> String {
    let mut text = match &found.verdict {
        CertificateVerdict::Certified => {
            let order = found.order.as_ref().map(|order| quantity::digits(&order.to_string())).unwrap_or_default();
            format!("{}: {}, order {order}\n", palette.good("certified"), counted(found.generators, "generator"))
        }
        CertificateVerdict::Refuted(finding) => failed(model, &palette.bad("refuted"), finding, palette),
        CertificateVerdict::Undecided(finding) => failed(model, &palette.open("cannot decide"), finding, palette),
    };
    let states = quantity::count(found.states as u64);
    text.push_str(&match (found.states, found.is_exhaustive) {
        (0, false) => "no states compared with their images by the reference interpreter\n".to_owned(),
        (_, true) => format!("all {states} reachable states compared with their images by the reference interpreter\n"),
        (_, false) => format!("{states} reachable states compared with their images by the reference interpreter\n"),
    });
    text
}

fn counted(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

fn failed(model: &Model, verdict: &str, finding: &Finding, palette: Palette) -> String {
    let Finding { generator, cause } = finding;
    let (message, span) = describe(model, cause);
    let of = generator.map_or_else(String::new, |number| format!("generator {number}: "));
    let mut text = format!("{verdict}: {of}{message}\n");
    if let Some(span) = span {
        text.push_str(&Lines::new(model.source()).quotation(span, "  ", palette));
    }
    text
}

/// The description and the location of a finding.
fn describe(model: &Model, cause: &Cause) -> (String, Option<Span>) {
    let ir = model.ir();
    match cause {
        Cause::NoPermutation(reason) => (format!("not a permutation of states: {reason}"), None),
        Cause::Step { action, arguments } => {
            let title = joint_title(ir, *action, arguments).unwrap_or_else(|| {
                let arguments = action_arguments_text(ir, *action, arguments);
                let title = action_title(ir, *action);
                if arguments.is_empty() { title } else { format!("{title}, {arguments}") }
            });
            (format!("{title} has no image under it"), Some(action_span(ir, *action)))
        }
        Cause::Property(property) => {
            let title = property_title(ir, *property);
            (format!("{title} says something else of the permuted state"), Some(ir.properties[*property].span))
        }
        Cause::Image { rule, claim } => {
            let span = rule.map(|rule| action_span(ir, Action::Rule(rule)));
            (format!("it does not map {}", visible(claim)), span)
        }
        Cause::Order { claimed, actual } => {
            (format!("the generators generate a group of order {actual}, not {}", visible(claimed)), None)
        }
        Cause::Unknown(reason) => (reason.clone(), None),
    }
}

/// JSON output.
pub(crate) fn json(
    writer: &mut dyn Write,
    model: &Model,
    found: &Verification,
    invocation: &Invocation,
) -> io::Result<()> {
    let lines = Lines::new(model.source());
    let (verdict, finding) = match &found.verdict {
        CertificateVerdict::Certified => ("certified", None),
        CertificateVerdict::Refuted(finding) => ("refuted", Some(finding)),
        CertificateVerdict::Undecided(finding) => ("cannot decide", Some(finding)),
    };
    let object = VerificationObject {
        header: Header::new("verify", model, invocation),
        verdict,
        finding: finding.map(|Finding { generator, cause }| {
            let (message, span) = describe(model, cause);
            let place = span.map(|span| lines.place(span));
            FindingObject {
                generator: *generator,
                message,
                file: place.map(|place| place.file),
                line: place.map(|place| place.line),
                column: place.map(|place| place.column),
            }
        }),
        generators: found.generators,
        order: found.order.as_ref().map(ToString::to_string),
        states: found.states,
        exhaustive: found.is_exhaustive,
        diagnostics: diagnostic_objects(model.source(), model.warnings()),
    };
    write(writer, &object)
}
