//! The result of `quotient check --every`, as text and as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use quotient::names::{ERRORS, property_name};
use quotient::{EveryMethod, EveryReport, Model, Verdict};
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
        let is_backward = attempt.method == EveryMethod::Backward;
        let (title, found) = if is_backward {
            let parts = quantity::count(attempt.parts as u64);
            ("backward", format!("{parts} parts of states, among {views} views with k = 1"))
        } else {
            ("views", format!("k = {}: {views}", attempt.kept))
        };
        let outcome = match &attempt.wrong {
            Some((what, objects)) if is_backward => {
                let exact = if report.tests.is_empty() { "" } else { ", as far as this can tell" };
                format!("; {} with {objects}{exact}", visible(what))
            }
            Some((what, objects)) => {
                format!("; too coarse: {} in a state with {objects}, which need not be reachable", visible(what))
            }
            None => String::new(),
        };
        let _ = writeln!(text, "{title:<11}  {found}{outcome}");
    }
    if report.attempts.iter().any(|attempt| attempt.method == EveryMethod::Backward) {
        text.push_str(&monotone(model, report));
    }
    let is_backward = report.proof.as_ref().is_some_and(|proof| proof.method == EveryMethod::Backward);
    if let Some(proof) = &report.proof {
        let rechecked = quantity::count(proof.rechecked);
        let what = if is_backward { "parts" } else { "views" };
        let _ = writeln!(text, "{:<11}  the {what}, in {rechecked} states with {name} ≥ {}", "rechecked", proof.from);
        if !proof.compared.is_empty() {
            let _ =
                writeln!(text, "{:<11}  all states with {name} = {}", "compared", values(&proof.compared).join(", "));
        }
    }
    let _ = writeln!(text, "{:<11}  {}", "time", quantity::duration(report.elapsed));
    if let Some(proof) = &report.proof {
        let (objects, from) = (visible(&report.objects), proof.from);
        // If nothing wrong can occur, no parts are excluded, and the views are all there is to say.
        let excludes = !proof.excluded.is_empty();
        let _ = if excludes {
            writeln!(
                text,
                "\nfor {name} ≥ {from}, the shared variables and some of the other values of `{objects}` are never like one of these:"
            )
        } else {
            let kept = report.attempts.last().map_or(1, |attempt| attempt.kept);
            writeln!(
                text,
                "\nfor {name} ≥ {from}, the shared variables and any {kept} of the other values of `{objects}` are like one of these:"
            )
        };
        let lines = if excludes { &proof.excluded } else { &proof.invariant };
        for line in lines.iter().take(LISTED_LINES) {
            let _ = writeln!(text, "  {}", visible(line));
        }
        let more = lines.len().saturating_sub(LISTED_LINES);
        if more > 0 {
            let _ = writeln!(text, "  and {} more lines (--format json has all)", quantity::count(more as u64));
        }
    }
    text
}

/// Whether more objects can prevent a step, and where.
fn monotone(model: &Model, report: &EveryReport) -> String {
    let Some((reason, span)) = report.tests.first() else {
        return format!("{:<11}  yes: no condition asks for the absence of a process\n", "monotone");
    };
    let place = Lines::new(model.source()).place(*span);
    let more = match report.tests.len() - 1 {
        0 => String::new(),
        more => format!("; {} more such conditions", quantity::count(more as u64)),
    };
    format!("{:<11}  no: {reason} (line {}, column {}){more}\n", "monotone", place.line, place.column)
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
    tests: Vec<TestObject<'a>>,
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
struct TestObject<'a> {
    reason: &'a str,
    file: &'a str,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct AttemptObject<'a> {
    method: &'static str,
    objects: usize,
    views: usize,
    parts: Option<usize>,
    wrong: Option<&'a str>,
    wrong_with_objects: Option<usize>,
    seconds: f64,
}

#[derive(Serialize)]
struct ProofObject<'a> {
    method: &'static str,
    from: i64,
    shared_parts: usize,
    contents: usize,
    rechecked_states: u64,
    compared: Vec<MemberObject>,
    invariant: &'a [String],
    excluded: &'a [String],
}

#[derive(Serialize)]
struct ViolationObject<'a> {
    value: i64,
    properties: Vec<PropertyObject<'a>>,
}

fn method_name(method: EveryMethod) -> &'static str {
    match method {
        EveryMethod::Auto => "auto",
        EveryMethod::Views => "views",
        EveryMethod::Backward => "backward",
    }
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
    let lines = Lines::new(model.source());
    let tests = report.tests.iter().map(|(reason, span)| {
        let place = lines.place(*span);
        TestObject { reason, file: place.file, line: place.line, column: place.column }
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
                    method: method_name(attempt.method),
                    objects: attempt.kept,
                    views: attempt.views,
                    parts: (attempt.method == EveryMethod::Backward).then_some(attempt.parts),
                    wrong: attempt.wrong.as_ref().map(|(what, _)| what.as_str()),
                    wrong_with_objects: attempt.wrong.as_ref().map(|(_, objects)| *objects),
                    seconds: seconds(attempt.elapsed),
                })
                .collect(),
            tests: tests.collect(),
            proof: report.proof.as_ref().map(|proof| ProofObject {
                method: method_name(proof.method),
                from: proof.from,
                shared_parts: proof.contexts,
                contents: proof.rows,
                rechecked_states: proof.rechecked,
                compared: members(&proof.compared),
                invariant: &proof.invariant,
                excluded: &proof.excluded,
            }),
            violation,
            open: report.open.as_deref(),
        },
        seconds: seconds(report.elapsed),
    };
    json::write(writer, &object)
}
