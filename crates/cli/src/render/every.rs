//! The result of `quotient check --every`, as text and as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use quotient::names::{ERRORS, property_name};
use quotient::{EveryReport, Model, Verdict};
use serde::Serialize;

use crate::invocation::Invocation;
use crate::render::diagnostics::Lines;
use crate::render::header::Header;
use crate::render::human::{self, Outcome, stop_text};
use crate::render::json::{self, Naming, PropertyObject, property_objects, seconds, stop_reason_name, verdict_name};
use crate::render::quantity;
use crate::render::trace::StateDetail;
use crate::terminal::{Palette, visible};

/// More lines of an invariant than this are counted.
const LISTED_LINES: usize = 40;

/// The result as text.
pub(crate) fn human(model: &Model, report: &EveryReport, detail: StateDetail, palette: Palette) -> String {
    let name = visible(&report.claim.constant);
    let mut text = match report.verdict {
        Verdict::Holds => format!("{} for every {name} ≥ {}\n", palette.good("holds"), report.claim.from),
        Verdict::Violated => String::new(),
        Verdict::Inconclusive => {
            let open = report.open.as_deref().unwrap_or("no verdict");
            let stop = report.stop_reason.as_ref().map(|reason| format!(": {}", stop_text(reason))).unwrap_or_default();
            format!("{}: {open}{stop}\n", palette.open("inconclusive"))
        }
    };
    if let Some((value, member, found)) = &report.violation {
        let _ = writeln!(text, "{} with {name} = {value}, the smallest number\n", palette.bad("violated"));
        text.push_str(&human::check(&Outcome { model: member, report: found, counts: None, detail }, palette));
    }
    text.push('\n');
    let names: Vec<String> =
        report.properties.iter().map(|&id| format!("\"{}\"", visible(&property_name(model.ir(), id)))).collect();
    let checked = if names.is_empty() { String::new() } else { format!("{} and ", names.join(", ")) };
    let _ = writeln!(text, "{:<11}  {checked}run-time errors; not deadlocks", "checked");
    let values = |pairs: &[(i64, u64)]| -> Vec<String> {
        pairs.iter().map(|(value, states)| format!("{value} ({} states)", quantity::count(*states))).collect()
    };
    if !report.searched.is_empty() {
        let _ = writeln!(text, "{:<11}  {name} = {}", "searched", values(&report.searched).join(", "));
    }
    for attempt in &report.attempts {
        let views = quantity::count(attempt.views as u64);
        let outcome = match &attempt.wrong {
            Some((what, objects)) => {
                format!("; too coarse: {} in a state with {objects}, which need not be reachable", visible(what))
            }
            None => String::new(),
        };
        let _ = writeln!(text, "{:<11}  k = {}: {views}{outcome}", "views", attempt.kept);
    }
    if let Some(proof) = &report.proof {
        let rechecked = quantity::count(proof.rechecked);
        let _ = writeln!(text, "{:<11}  the views, in {rechecked} states with {name} ≥ {}", "rechecked", proof.from);
        if !proof.compared.is_empty() {
            let _ =
                writeln!(text, "{:<11}  all states with {name} = {}", "compared", values(&proof.compared).join(", "));
        }
    }
    let _ = writeln!(text, "{:<11}  {}", "time", quantity::duration(report.elapsed));
    if let Some(proof) = &report.proof {
        let _ = writeln!(
            text,
            "\nfor {name} ≥ {}, the shared variables and any {} of the other values of `{}` are like one of these:",
            proof.from,
            report.attempts.last().map_or(1, |attempt| attempt.kept),
            visible(&report.objects)
        );
        for line in proof.invariant.iter().take(LISTED_LINES) {
            let _ = writeln!(text, "  {}", visible(line));
        }
        let more = proof.invariant.len().saturating_sub(LISTED_LINES);
        if more > 0 {
            let _ = writeln!(text, "  and {} more lines (--format json has all)", quantity::count(more as u64));
        }
    }
    text
}

#[derive(Serialize)]
struct EveryObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    verdict: &'static str,
    stop_reason: Option<&'static str>,
    every: ClaimObject<'a>,
    seconds: f64,
}

#[derive(Serialize)]
struct ClaimObject<'a> {
    constant: &'a str,
    from: i64,
    r#type: &'a str,
    checked: Vec<String>,
    searched: Vec<MemberObject>,
    attempts: Vec<AttemptObject<'a>>,
    proof: Option<ProofObject<'a>>,
    violation: Option<ViolationObject<'a>>,
    open: Option<&'a str>,
}

#[derive(Serialize)]
struct MemberObject {
    value: i64,
    states: u64,
}

#[derive(Serialize)]
struct AttemptObject<'a> {
    objects: usize,
    views: usize,
    wrong: Option<&'a str>,
    wrong_with_objects: Option<usize>,
    seconds: f64,
}

#[derive(Serialize)]
struct ProofObject<'a> {
    from: i64,
    shared_parts: usize,
    contents: usize,
    rechecked_states: u64,
    compared: Vec<MemberObject>,
    invariant: &'a [String],
}

#[derive(Serialize)]
struct ViolationObject<'a> {
    value: i64,
    properties: Vec<PropertyObject<'a>>,
}

/// The result as JSON.
pub(crate) fn json(
    writer: &mut dyn Write,
    model: &Model,
    report: &EveryReport,
    invocation: &Invocation,
) -> io::Result<()> {
    let members = |pairs: &[(i64, u64)]| -> Vec<MemberObject> {
        pairs.iter().map(|&(value, states)| MemberObject { value, states }).collect()
    };
    let names = report.properties.iter().map(|&id| property_name(model.ir(), id));
    let violation = report.violation.as_ref().map(|(value, member, found)| {
        let naming = Naming { model: member.ir(), layout: member.layout() };
        let lines = Lines::new(member.source());
        ViolationObject { value: *value, properties: property_objects(naming, &lines, found) }
    });
    let object = EveryObject {
        header: Header::new("check", model, invocation),
        verdict: verdict_name(report.verdict),
        stop_reason: report.stop_reason.as_ref().map(stop_reason_name),
        every: ClaimObject {
            constant: &report.claim.constant,
            from: report.claim.from,
            r#type: &report.objects,
            checked: names.chain([ERRORS.to_owned()]).collect(),
            searched: members(&report.searched),
            attempts: report
                .attempts
                .iter()
                .map(|attempt| AttemptObject {
                    objects: attempt.kept,
                    views: attempt.views,
                    wrong: attempt.wrong.as_ref().map(|(what, _)| what.as_str()),
                    wrong_with_objects: attempt.wrong.as_ref().map(|(_, objects)| *objects),
                    seconds: seconds(attempt.elapsed),
                })
                .collect(),
            proof: report.proof.as_ref().map(|proof| ProofObject {
                from: proof.from,
                shared_parts: proof.contexts,
                contents: proof.rows,
                rechecked_states: proof.rechecked,
                compared: members(&proof.compared),
                invariant: &proof.invariant,
            }),
            violation,
            open: report.open.as_deref(),
        },
        seconds: seconds(report.elapsed),
    };
    json::write(writer, &object)
}
