//! The result of `check` by property, for the formats of build servers.

use quotient::{PropertyReport, StopReason, Subject, UnsupportedProperty, Verdict};
use quotient_ir::{Span, Trace};

use crate::render::diagnostics::{Lines, Location};
use crate::render::human::{Outcome, stop_text};
use quotient::names::{subject_kind, subject_title};
use quotient::shown::describe_violation;

/// The status of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyStatus {
    /// It holds.
    Holds,
    /// It is violated.
    Violated,
    /// The search ended at a violation of another one.
    Open,
    /// The search reached a limit, or the property cannot be checked.
    Failed,
}

/// A property and its status.
pub(crate) struct PropertyResult<'a> {
    /// The word for its kind.
    pub(crate) kind: &'static str,
    /// Its title: `invariant "mutual exclusion"`, `no deadlock`.
    pub(crate) title: String,
    /// Its status.
    pub(crate) status: PropertyStatus,
    /// A one-sentence message.
    pub(crate) message: String,
    /// Where it is declared.
    pub(crate) claimed: Option<Location<'a>>,
    /// The location of the violation, if it has one: the property, or a statement.
    pub(crate) place: Option<Location<'a>>,
    /// The run to the violation.
    pub(crate) trace: Option<&'a Trace>,
}

/// All properties that were checked, and those that cannot be; at the end a run-time error that ended the search
/// although errors were not selected.
pub(crate) fn property_results<'a>(outcome: &Outcome<'a>, lines: &Lines<'a>) -> Vec<PropertyResult<'a>> {
    let report = outcome.report;
    let mut results: Vec<PropertyResult<'a>> =
        report.properties.iter().map(|property| property_result(outcome, lines, property)).collect();
    results.extend(report.unsupported.iter().map(|UnsupportedProperty { kind, name, reason, span }| PropertyResult {
        kind,
        title: format!("{kind} \"{name}\""),
        status: PropertyStatus::Failed,
        message: reason.clone(),
        claimed: span.map(|span| lines.place(span)),
        place: span.map(|span| lines.place(span)),
        trace: None,
    }));
    if let Some(trace) = &report.fault {
        let (message, span) = end_of(outcome, trace);
        results.push(PropertyResult {
            kind: "errors",
            title: "no errors".to_owned(),
            status: PropertyStatus::Failed,
            message,
            claimed: None,
            place: span.map(|span| lines.place(span)),
            trace: Some(trace),
        });
    }
    results
}

fn property_result<'a>(outcome: &Outcome<'a>, lines: &Lines<'a>, property: &'a PropertyReport) -> PropertyResult<'a> {
    let model = outcome.model.ir();
    let (kind, title) = (subject_kind(model, property.subject), subject_title(model, property.subject));
    let claim = match property.subject {
        Subject::Property(id) => Some(model.properties[id].span),
        Subject::Deadlock | Subject::Errors => None,
    };
    let reason = outcome.report.stop_reason.as_ref();
    let (status, message, span) = match property.verdict {
        Verdict::Holds => (PropertyStatus::Holds, "holds".to_owned(), claim),
        Verdict::Violated => {
            let (message, span) = match &property.trace {
                Some(trace) => end_of(outcome, trace),
                None => ("no reachable state satisfies it".to_owned(), claim),
            };
            (PropertyStatus::Violated, message, span)
        }
        Verdict::Inconclusive => {
            let status = match reason {
                Some(StopReason::Violation) => PropertyStatus::Open,
                _ => PropertyStatus::Failed,
            };
            let reason = reason.map_or_else(String::new, |reason| format!(": {}", stop_text(reason)));
            (status, format!("undecided{reason}"), claim)
        }
    };
    PropertyResult {
        kind,
        title,
        status,
        message,
        claimed: claim.map(|span| lines.place(span)),
        place: span.map(|span| lines.place(span)),
        trace: property.trace.as_ref(),
    }
}

/// The violation at the end of a run, and its location.
fn end_of(outcome: &Outcome<'_>, trace: &Trace) -> (String, Option<Span>) {
    match &trace.violation {
        Some(violation) => {
            let text = describe_violation(outcome.model.ir(), outcome.model.layout(), violation);
            (text.message, text.span)
        }
        None => (String::new(), None),
    }
}
