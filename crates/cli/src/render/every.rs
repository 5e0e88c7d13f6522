//! The result of `quotient check --every`, as text and as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use quotient::names::{ERRORS, property_name};
use quotient::{EveryGuards, EveryMethod, EveryProof, EveryReport, EveryTextCutOff, EveryValue, Model, Verdict};
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
    let claim = &report.claim;
    let from: Vec<EveryValue> = claim.sizes.iter().map(|size| EveryValue::AtLeast(size.from)).collect();
    let mut text = match report.verdict {
        Verdict::Holds => format!("{} for every {}\n", palette.good("holds"), visible(&claim.words(&from))),
        Verdict::Violated => String::new(),
        Verdict::Inconclusive => {
            let open = report.open.as_deref().unwrap_or("no verdict");
            let stop = report.stop_reason.as_ref().map(|reason| format!(": {}", stop_text(reason))).unwrap_or_default();
            format!("{}: {open}{stop}\n", palette.open("inconclusive"))
        }
    };
    if let Some((values, member, found)) = &report.violation {
        let smallest = if values.len() == 1 { "the smallest number" } else { "the smallest sum" };
        let values = visible(&claim.equations(values));
        let _ = writeln!(text, "{} with {values}, {smallest}\n", palette.bad("violated"));
        text.push_str(&human::check(&Outcome { model: member, report: found, counts: None, detail }, palette));
    }
    text.push('\n');
    let names: Vec<String> =
        report.properties.iter().map(|&id| format!("\"{}\"", visible(&property_name(model.ir(), id)))).collect();
    let checked = if names.is_empty() { String::new() } else { format!("{} and ", names.join(", ")) };
    let _ = writeln!(text, "{:<11}  {checked}run-time errors; not deadlocks", "checked");
    let constants: Vec<&str> = claim.sizes.iter().map(|size| size.constant.as_str()).collect();
    let constants = visible(&constants.join(", "));
    let values = |pairs: &[(Vec<i64>, u64)]| -> String {
        let pair = |(values, states): &(Vec<i64>, u64)| {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            let values = if let [value] = &values[..] { value.clone() } else { format!("({})", values.join(", ")) };
            format!("{values} ({} states)", quantity::count(*states))
        };
        let name = if claim.sizes.len() == 1 { constants.clone() } else { format!("({constants})") };
        format!("{name} = {}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
    };
    // With one constant, there is one region, whose end grows with the views.
    let region = |values: &[EveryValue]| match values {
        [_] => String::new(),
        _ => format!("{}, ", visible(&claim.words(values))),
    };
    if !report.searched.is_empty() {
        let _ = writeln!(text, "{:<11}  {}", "searched", values(&report.searched));
    }
    for attempt in &report.attempts {
        let views = quantity::count(attempt.views as u64);
        let is_backward = attempt.method == EveryMethod::Backward;
        let (title, found) = if is_backward {
            let parts = quantity::count(attempt.parts as u64);
            ("backward", format!("{parts} parts of states, among {views} views with k = 1"))
        } else {
            ("views", format!("{}k = {}: {views}", region(&attempt.values), attempt.kept))
        };
        let outcome = match &attempt.wrong {
            Some((what, objects)) if is_backward => {
                let objects = number_of(objects, report);
                let exact = if report.tests.is_empty() { "" } else { ", as far as this can tell" };
                format!("; {} with {objects}{exact}", visible(what))
            }
            Some((what, objects)) => {
                let objects = number_of(objects, report);
                format!("; too coarse: {} in a state with {objects}, which need not be reachable", visible(what))
            }
            None => String::new(),
        };
        let _ = writeln!(text, "{title:<11}  {found}{outcome}");
    }
    if report.attempts.iter().any(|attempt| attempt.method == EveryMethod::Backward) {
        text.push_str(&monotone(model, report));
    }
    for proof in &report.proofs {
        let rechecked = quantity::count(proof.rechecked);
        let what = if proof.method == EveryMethod::Backward { "parts" } else { "views" };
        let about = visible(&claim.words(&proof.values));
        let _ = writeln!(text, "{:<11}  the {what}, in {rechecked} states with {about}", "rechecked");
        if !proof.compared.is_empty() {
            let _ = writeln!(text, "{:<11}  all states with {}", "compared", values(&proof.compared));
        }
        if let Some(cut_off) = &proof.cut_off {
            let member = visible(&claim.equations(&cut_off.values));
            let who = others(&format!("any {}", proof.kept), &proof.values, report);
            let about = visible(&claim.words(&cut_off.about));
            let what = format!("what the shared variables and {who} hold with any {about}");
            let _ = writeln!(text, "{:<11}  {member}: {what}, they hold with {member}", "cut-off");
        }
    }
    if let Some(cut_off) = &report.cut_off {
        text.push_str(&text_cut_off(cut_off, report));
    }
    let _ = writeln!(text, "{:<11}  {}", "time", quantity::duration(report.elapsed));
    if let Some(proof) = report.proofs.first() {
        text.push_str(&invariant(proof, report));
    }
    if let [_, others @ ..] = &report.proofs[..]
        && !others.is_empty()
    {
        let about: Vec<String> = others.iter().map(|proof| claim.words(&proof.values)).collect();
        let _ = writeln!(text, "\nother invariants (--format json has them): {}", visible(&about.join("; ")));
    }
    text
}

/// How many objects of each type, in words.
fn number_of(objects: &[usize], report: &EveryReport) -> String {
    if let [number] = objects {
        return number.to_string();
    }
    let named =
        objects.iter().zip(&report.objects).map(|(number, (_, name))| format!("{number} of `{}`", visible(name)));
    named.collect::<Vec<_>>().join(" and ")
}

/// A cut-off that the text shows, with the reason.
fn text_cut_off(cut_off: &EveryTextCutOff, report: &EveryReport) -> String {
    let value = visible(&report.claim.equations(&[cut_off.value]));
    let (asks, contents) = match (cut_off.guards, cut_off.contents) {
        (EveryGuards::Some, Some(contents)) => (
            "some process is somewhere",
            format!("; a process holds one of {} contents", quantity::count(contents as u64)),
        ),
        (EveryGuards::Some, None) => ("some process is somewhere", String::new()),
        (EveryGuards::All, _) => ("all processes are somewhere", String::new()),
    };
    let concerned = match cut_off.concerned {
        1 => "one process shows".to_owned(),
        number => format!("{} processes show", quantity::count(number as u64)),
    };
    let end = if cut_off.is_proof || report.violation.is_some() { "" } else { "; not searched so far" };
    format!(
        "{:<11}  {value} (Emerson and Kahlon 2000: guards ask only whether {asks}){contents}; {concerned} what is wrong{end}\n",
        "cut-off"
    )
}

/// So many of the objects that shared variables do not name, in words; all of a type of which there is a fixed number.
fn others(kept: &str, values: &[EveryValue], report: &EveryReport) -> String {
    let order = if report.is_ordered { ", in their order," } else { "" };
    let of_type = report.objects.iter().map(|(constant, name)| {
        let is_fixed = matches!(values.get(*constant), Some(EveryValue::Is(_)));
        format!("{} of the other values of `{}`{order}", if is_fixed { "all" } else { kept }, visible(name))
    });
    of_type.collect::<Vec<_>>().join(" and ")
}

/// An invariant in words.
fn invariant(proof: &EveryProof, report: &EveryReport) -> String {
    let about = visible(&report.claim.words(&proof.values));
    let number = |kept: &str| others(kept, &proof.values, report);
    // If nothing wrong can occur, no parts are excluded, and the views are all there is to say.
    let (what, lines) = if proof.excluded.is_empty() {
        (format!("{} are", number(&format!("any {}", proof.kept))), &proof.invariant)
    } else {
        (format!("{} are never", number("some")), &proof.excluded)
    };
    let mut text = format!("\nfor {about}, the shared variables and {what} like one of these:\n");
    for line in lines.iter().take(LISTED_LINES) {
        let _ = writeln!(text, "  {}", visible(line));
    }
    let more = lines.len().saturating_sub(LISTED_LINES);
    if more > 0 {
        let _ = writeln!(text, "  and {} more lines (--format json has all)", quantity::count(more as u64));
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
    constants: Vec<ConstantObject<'a>>,
    checked: Vec<String>,
    searched: Vec<MemberObject<'a>>,
    attempts: Vec<AttemptObject<'a>>,
    tests: Vec<TestObject<'a>>,
    proofs: Vec<ProofObject<'a>>,
    cut_off: Option<TextCutOffObject>,
    violation: Option<ViolationObject<'a>>,
    open: Option<&'a str>,
}

#[derive(Serialize)]
struct ConstantObject<'a> {
    name: &'a str,
    from: i64,
    types: Vec<&'a str>,
}

#[derive(Serialize)]
struct MemberObject<'a> {
    values: &'a [i64],
    states: u64,
}

#[derive(Serialize)]
struct ValuesObject {
    from: i64,
    to: Option<i64>,
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
    values: Vec<ValuesObject>,
    objects: usize,
    views: usize,
    parts: Option<usize>,
    wrong: Option<&'a str>,
    wrong_with_objects: Option<&'a [usize]>,
    seconds: f64,
}

#[derive(Serialize)]
struct ProofObject<'a> {
    method: &'static str,
    values: Vec<ValuesObject>,
    objects: usize,
    shared_parts: usize,
    contents: usize,
    rechecked_states: u64,
    compared: Vec<MemberObject<'a>>,
    cut_off: Option<CutOffObject<'a>>,
    invariant: &'a [String],
    excluded: &'a [String],
}

#[derive(Serialize)]
struct TextCutOffObject {
    value: i64,
    guards: &'static str,
    contents: Option<usize>,
    objects: usize,
    is_proof: bool,
}

#[derive(Serialize)]
struct CutOffObject<'a> {
    values: &'a [i64],
    about: Vec<ValuesObject>,
}

#[derive(Serialize)]
struct ViolationObject<'a> {
    values: &'a [i64],
    properties: Vec<PropertyObject<'a>>,
}

fn method_name(method: EveryMethod) -> &'static str {
    match method {
        EveryMethod::Auto => "auto",
        EveryMethod::Views => "views",
        EveryMethod::Backward => "backward",
        EveryMethod::CutOff => "cutoff",
    }
}

fn values_objects(values: &[EveryValue]) -> Vec<ValuesObject> {
    let object = |values: &EveryValue| match *values {
        EveryValue::Is(value) => ValuesObject { from: value, to: Some(value) },
        EveryValue::AtLeast(least) => ValuesObject { from: least, to: None },
    };
    values.iter().map(object).collect()
}

fn member_objects(members: &[(Vec<i64>, u64)]) -> Vec<MemberObject<'_>> {
    members.iter().map(|(values, states)| MemberObject { values, states: *states }).collect()
}

/// The result as JSON.
pub(crate) fn json(
    writer: &mut dyn Write,
    model: &Model,
    report: &EveryReport,
    invocation: &Invocation,
) -> io::Result<()> {
    let names = report.properties.iter().map(|&id| property_name(model.ir(), id));
    let violation = report.violation.as_ref().map(|(values, member, found)| {
        let naming = Naming { model: member.ir(), layout: member.layout() };
        let lines = Lines::new(member.source());
        ViolationObject { values, properties: property_objects(naming, &lines, found) }
    });
    let lines = Lines::new(model.source());
    let tests = report.tests.iter().map(|(reason, span)| {
        let place = lines.place(*span);
        TestObject { reason, file: place.file, line: place.line, column: place.column }
    });
    let constants = report.claim.sizes.iter().enumerate().map(|(place, size)| {
        let types = report.objects.iter().filter(|(constant, _)| *constant == place).map(|(_, name)| name.as_str());
        ConstantObject { name: &size.constant, from: size.from, types: types.collect() }
    });
    let object = EveryObject {
        header: Header::new("check", model, invocation),
        verdict: verdict_name(report.verdict),
        stop_reason: report.stop_reason.as_ref().map(stop_reason_name),
        every: ClaimObject {
            constants: constants.collect(),
            checked: names.chain([ERRORS.to_owned()]).collect(),
            searched: member_objects(&report.searched),
            attempts: report
                .attempts
                .iter()
                .map(|attempt| AttemptObject {
                    method: method_name(attempt.method),
                    values: values_objects(&attempt.values),
                    objects: attempt.kept,
                    views: attempt.views,
                    parts: (attempt.method == EveryMethod::Backward).then_some(attempt.parts),
                    wrong: attempt.wrong.as_ref().map(|(what, _)| what.as_str()),
                    wrong_with_objects: attempt.wrong.as_ref().map(|(_, objects)| &objects[..]),
                    seconds: seconds(attempt.elapsed),
                })
                .collect(),
            tests: tests.collect(),
            proofs: report
                .proofs
                .iter()
                .map(|proof| ProofObject {
                    method: method_name(proof.method),
                    values: values_objects(&proof.values),
                    objects: proof.kept,
                    shared_parts: proof.contexts,
                    contents: proof.rows,
                    rechecked_states: proof.rechecked,
                    compared: member_objects(&proof.compared),
                    cut_off: proof
                        .cut_off
                        .as_ref()
                        .map(|cut_off| CutOffObject { values: &cut_off.values, about: values_objects(&cut_off.about) }),
                    invariant: &proof.invariant,
                    excluded: &proof.excluded,
                })
                .collect(),
            cut_off: report.cut_off.map(|cut_off| TextCutOffObject {
                value: cut_off.value,
                guards: match cut_off.guards {
                    EveryGuards::Some => "some",
                    EveryGuards::All => "all",
                },
                contents: cut_off.contents,
                objects: cut_off.concerned,
                is_proof: cut_off.is_proof,
            }),
            violation,
            open: report.open.as_deref(),
        },
        seconds: seconds(report.elapsed),
    };
    json::write(writer, &object)
}
