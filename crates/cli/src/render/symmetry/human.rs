//! Text output of symmetries: their number, what they move, what was omitted, and the figures.

use std::fmt::Write;

use num_bigint::BigUint;
use quotient::{
    Answer, CertificationReport, Detected, Explanation, Family, Limit, Reason, Refused, Symmetry, TextReading,
};
use quotient_ir::Model;

use super::{named, place};
use crate::render::diagnostics::{Lines, render_remarks};
use crate::render::quantity;
use crate::terminal::{Palette, visible};
use quotient::names::property_title;

/// More generators than this are only counted.
const LISTED_GENERATORS: usize = 24;
/// More names of variables than this are counted.
const LISTED_NAMES: usize = 24;
/// More places of the text than this are counted.
const LISTED_LIMITS: usize = 6;
/// Longer cycles and lists are shortened.
const LONGEST_CYCLE: usize = 9;

/// The result of `detect`.
pub(crate) fn detection(findings: &Detected, palette: Palette) -> String {
    let mut text = format!("{}\n", title(findings, palette));
    match &findings.answer {
        Some(Answer::WhyNot { text: request, limits, explanation }) => {
            text.push('\n');
            text.push_str(&answer(findings.model().ir(), request, limits, explanation.as_ref(), palette));
        }
        Some(Answer::Families(list)) => {
            text.push('\n');
            text.push_str(&families(findings.model().ir(), list, palette));
        }
        None => {
            if findings.order == BigUint::from(1u32) && findings.source != Symmetry::Off {
                text.push_str("add --why-not to see what breaks a symmetry that you expected\n");
            }
            text.push_str(&generators(findings));
            text.push_str(&refusals(findings, palette));
            text.push('\n');
            text.push_str(&figures(findings, palette));
        }
    }
    text
}

/// `symmetries: 362,880, S9`.
fn title(findings: &Detected, palette: Palette) -> String {
    let order = order_text(&findings.order);
    if findings.order == BigUint::from(1u32) {
        return format!("{}: {order}, nothing but the identity", palette.open("symmetries"));
    }
    // The structure of an unnamed group only repeats its order.
    let structure = Some(&findings.structure).filter(|structure| !structure.starts_with('['));
    let structure = structure.map_or_else(String::new, |structure| format!(", {structure}"));
    format!("{}: {order}{structure}", palette.good("symmetries"))
}

/// With thousands separators, as long as that helps.
fn order_text(order: &BigUint) -> String {
    u64::try_from(order).map_or_else(|_| quantity::large(&order.to_string()), quantity::count)
}

fn generators(findings: &Detected) -> String {
    let mut text = String::new();
    if !findings.generators.is_empty() {
        text.push('\n');
    }
    for generator in findings.generators.iter().take(LISTED_GENERATORS) {
        let _ = writeln!(text, "  {}", visible(&generator.line(LONGEST_CYCLE)));
    }
    let more = findings.generator_count.saturating_sub(LISTED_GENERATORS);
    if more > 0 {
        let _ = writeln!(text, "  … and {} more", quantity::count(more as u64));
    }
    text
}

fn refusals(findings: &Detected, palette: Palette) -> String {
    let model = findings.model().ir();
    let mut text = String::new();
    for Refused { ty, first, second, reasons } in &findings.refused {
        let name = model.types[*ty].name.as_deref().unwrap_or("without a name");
        let (first, second) = (model.value_name(*ty, *first), model.value_name(*ty, *second));
        let refused = palette.bad("refused");
        let _ = writeln!(text, "\n{refused}: exchanging {first} and {second} of the scalarset {name}\n");
        text.push_str(render_reasons(model, reasons, palette).trim_end());
        text.push('\n');
    }
    text
}

/// Names, as far as there are not too many.
fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(LISTED_NAMES)].join(", ");
    match names.len().saturating_sub(LISTED_NAMES) {
        0 => shown,
        more => format!("{shown}, … and {} more", quantity::count(more as u64)),
    }
}

fn figures(findings: &Detected, palette: Palette) -> String {
    let model = findings.model().ir();
    let mut rows: Vec<(&str, String)> = Vec::new();
    let types: Vec<&str> = findings.moved.types.iter().filter_map(|&ty| model.types[ty].name.as_deref()).collect();
    if !types.is_empty() {
        rows.push(("types", types.join(", ")));
    }
    let variables: Vec<&str> =
        findings.moved.variables.iter().map(|&variable| model.variable_title(variable)).collect();
    if !variables.is_empty() {
        rows.push(("variables", listed(&variables)));
    }
    for fixed in findings.fixed.iter().take(LISTED_NAMES) {
        let place = palette.faint(&model.source.locate(fixed.span));
        rows.push(("fixed", format!("{}: {} ({place})", model.variable_title(fixed.variable), fixed.reason)));
    }
    let more = findings.fixed.len().saturating_sub(LISTED_NAMES);
    if more > 0 {
        rows.push(("", format!("… and {} more", quantity::count(more as u64))));
    }
    if !findings.numbers.is_empty() {
        let names: Vec<&str> = findings.numbers.iter().map(|&variable| model.variable_title(variable)).collect();
        rows.push(("numbers", format!("{}: values are numbers that do not permute", listed(&names))));
    }
    let properties: Vec<String> = findings.properties.iter().map(|&property| property_title(model, property)).collect();
    if !properties.is_empty() && findings.source != Symmetry::Off {
        rows.push(("preserved", properties.join(", ")));
    }
    if !findings.generators.is_empty() {
        rows.push(("generators", quantity::count(findings.generator_count as u64)));
    }
    if let Some(report) = findings.certification.filter(|_| !findings.generators.is_empty()) {
        rows.push(("certified", certification(&report)));
    }
    if let Some(text) = findings.text.as_ref().filter(|_| findings.order > BigUint::from(1u32)) {
        rows.push(("text", text_row(text, &findings.order)));
    }
    if let Some(reason) = &findings.only_text {
        rows.push(("search", palette.open(&format!("of the text only: {reason}"))));
    } else if !findings.complete {
        rows.push(("search", palette.open("not finished: there may be more symmetries")));
    }
    if let Some((nodes, edges)) = findings.graph_size {
        let (nodes, edges) = (quantity::count(nodes as u64), quantity::count(edges as u64));
        rows.push(("graph", format!("{nodes} nodes, {edges} edges")));
    }
    let phases: Vec<String> = named(&findings.phases)
        .into_iter()
        .filter(|(_, duration)| !duration.is_zero())
        .map(|(name, duration)| format!("{name} {}", quantity::duration(duration)))
        .collect();
    let phases = if phases.is_empty() { String::new() } else { format!(": {}", phases.join(", ")) };
    rows.push(("time", format!("{}{phases}", quantity::duration(findings.elapsed))));
    rows.iter().map(|(name, value)| format!("{name:<11}  {value}\n")).collect()
}

/// What the text alone shows.
fn text_row(text: &TextReading, whole: &BigUint) -> String {
    let time = quantity::duration(text.elapsed);
    let strict = if text.is_strict { ", with strict quantifiers" } else { "" };
    match &text.structure {
        _ if text.order == BigUint::from(1u32) => format!("shows none of them in {time}"),
        _ if text.order == *whole => format!("shows all of them{strict} in {time}"),
        structure => format!("shows {structure}{strict} in {time}"),
    }
}

/// How the generators were proved to be symmetries.
fn certification(report: &CertificationReport) -> String {
    let CertificationReport { exhausted, by_normal_form, runs } = *report;
    let total = quantity::count(exhausted + by_normal_form);
    let mut text = format!("{total} instances of rules and properties against their images, by normal form");
    if exhausted > 0 {
        let which = if by_normal_form == 0 { "all".to_owned() } else { quantity::count(exhausted) };
        let _ = write!(text, "; {which} by exhaustive evaluation, too ({} runs)", quantity::count(runs));
    }
    text
}

fn answer(
    model: &Model,
    request: &str,
    limits: &[Limit],
    explanation: Option<&Explanation>,
    palette: Palette,
) -> String {
    let request = visible(request);
    let shown = limits.iter().take(LISTED_LIMITS).map(|limit| (place(limit.span), limit.text.as_str()));
    let in_text = render_remarks(&model.source, shown, palette);
    let more = match limits.len().saturating_sub(LISTED_LIMITS) {
        0 => String::new(),
        more => format!("\n\nand {more} more places of the text"),
    };
    let in_text = format!("{}{more}", in_text.trim_end());
    let Some(explanation) = explanation else {
        let none = "the text says nothing against it, and the model is too large to look at more";
        return if limits.is_empty() {
            format!("`{request}`: {none}\n")
        } else {
            format!("`{request}` is not seen to be a symmetry in the text\n\n{in_text}\n")
        };
    };
    match explanation {
        Explanation::Symmetry(completed) => {
            let but = if completed.is_detected { "" } else { ", but not one that was found" };
            let line = completed.description.line(LONGEST_CYCLE);
            let whole = if line.is_empty() { String::new() } else { format!("\n  {}\n", visible(&line)) };
            format!("`{request}` is a symmetry{but}\n{whole}")
        }
        Explanation::NotSymmetry { reasons, similar, omitted, .. } => {
            let counted = reasons.iter().zip(similar).map(|(reason, &similar)| {
                let more = if similar > 0 {
                    format!(" (and {} more like it)", quantity::count(similar as u64))
                } else {
                    String::new()
                };
                Reason { text: format!("{}{more}", reason.text), ..reason.clone() }
            });
            let said = render_reasons(model, &counted.collect::<Vec<_>>(), palette);
            let others = match omitted {
                0 => String::new(),
                1 => "\nand 1 other reason\n".to_owned(),
                _ => format!("\nand {} other reasons\n", quantity::count(*omitted as u64)),
            };
            let first =
                if limits.is_empty() { String::new() } else { format!("\nin the text:\n\n{in_text}\n\nunfolded:\n") };
            format!("`{request}` is not a symmetry\n{first}\n{}\n{others}", said.trim_end())
        }
    }
}

fn render_reasons(model: &Model, reasons: &[Reason], palette: Palette) -> String {
    let remarks = reasons.iter().map(|reason| (place(reason.span), reason.text.as_str()));
    render_remarks(&model.source, remarks, palette)
}

/// The classes of each index type, and for each class one line of the text that separates it from the next.
fn families(model: &Model, families: &[Family], palette: Palette) -> String {
    let lines = Lines::new(&model.source);
    let mut text = String::new();
    for Family { of, classes, separators } in families {
        let name = of.title(model);
        let named = |value: &i64| of.value_title(model, *value);
        let shown: Vec<String> = classes
            .iter()
            .map(|class| format!("{{{}}}", class.iter().map(named).collect::<Vec<_>>().join(", ")))
            .collect();
        let word = if classes.len() == 1 { "all alike" } else { "distinguished" };
        let _ = writeln!(text, "{}: {}  {}", palette.strong(&name), shown.join(" "), palette.faint(word));
        for (pair, separator) in classes.windows(2).zip(separators) {
            let (first, second) = (named(&pair[0][0]), named(&pair[1][0]));
            match separator {
                None => {
                    let _ = writeln!(text, "  {first} | {second}: they can be exchanged, but not by what was found");
                }
                Some(reason) => {
                    let _ = writeln!(text, "  {first} | {second}: {}", visible(&reason.text));
                    if let Some(span) = place(reason.span) {
                        text.push_str(&lines.quotation(span, "    ", palette));
                    }
                }
            }
        }
    }
    if families.is_empty() {
        text.push_str("no type indexes an array\n");
    }
    text
}
