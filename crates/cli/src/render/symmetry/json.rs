//! Symmetries as one JSON object on one line. The keys are stable: programs read them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use quotient::{Answer, Detected, Explanation, Family, Reason, Refused, Symmetry};
use quotient_ir::{Model, Span};

use super::{named, place};
use crate::invocation::Invocation;
use crate::render::diagnostics::Lines;
use crate::render::header::Header;
use crate::render::json::{DiagnosticObject, diagnostic_objects, seconds, write};
use quotient::names::{property_kind, property_name};

#[derive(serde::Serialize)]
struct DetectionObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    symmetry: SymmetryObject<'a>,
    properties: Vec<PropertyObject>,
    request: Option<&'a str>,
    is_symmetry: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permutation: Option<Vec<String>>,
    /// What the text says against the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<ReasonObject<'a>>,
    reasons: Option<Vec<ReasonObject<'a>>>,
    /// The number of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_reasons: Option<usize>,
    families: Option<Vec<FamilyObject<'a>>>,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
    diagnostics: Vec<DiagnosticObject<'a>>,
}

#[derive(serde::Serialize)]
struct SymmetryObject<'a> {
    source: &'static str,
    order: String,
    structure: &'a str,
    complete: bool,
    /// What the text alone shows.
    text: Option<TextObject<'a>>,
    /// Why only the text was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    only_text: Option<&'a str>,
    generators: Vec<GeneratorObject>,
    types: Vec<&'a str>,
    variables: Vec<&'a str>,
    fixed: Vec<FixedObject<'a>>,
    numbers: Vec<&'a str>,
    refused: Vec<RefusedObject<'a>>,
    certification: Option<CertificationObject>,
    graph: Option<GraphObject>,
    seconds_by_phase: BTreeMap<&'static str, f64>,
    seconds: f64,
}

#[derive(serde::Serialize)]
struct TextObject<'a> {
    order: String,
    structure: &'a str,
    strict: bool,
    seconds: f64,
}

#[derive(serde::Serialize)]
struct GeneratorObject {
    cycles: Vec<String>,
}

#[derive(serde::Serialize)]
struct GraphObject {
    nodes: usize,
    edges: usize,
}

#[derive(serde::Serialize)]
struct CertificationObject {
    exhausted: u64,
    by_normal_form: u64,
    runs: u64,
}

#[derive(serde::Serialize)]
struct FixedObject<'a> {
    variable: &'a str,
    #[serde(flatten)]
    reason: ReasonObject<'a>,
}

#[derive(serde::Serialize)]
struct RefusedObject<'a> {
    r#type: Option<&'a str>,
    values: [String; 2],
    reasons: Vec<ReasonObject<'a>>,
}

#[derive(serde::Serialize)]
struct FamilyObject<'a> {
    r#type: Option<String>,
    classes: Vec<Vec<String>>,
    separators: Vec<Option<ReasonObject<'a>>>,
}

/// A reason and its place.
#[derive(serde::Serialize)]
pub(crate) struct ReasonObject<'a> {
    message: &'a str,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    /// The number of repetitions for other instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    similar: Option<usize>,
}

#[derive(serde::Serialize)]
struct PropertyObject {
    name: String,
    kind: &'static str,
}

/// The result of `detect`.
pub(crate) fn detection(writer: &mut dyn Write, findings: &Detected, invocation: &Invocation) -> io::Result<()> {
    let model = findings.model().ir();
    let lines = Lines::new(&model.source);
    let properties = findings
        .properties
        .iter()
        .map(|&property| PropertyObject { name: property_name(model, property), kind: property_kind(model, property) });
    let (request, limits, explanation, families) = match &findings.answer {
        Some(Answer::WhyNot { text, limits, explanation }) => {
            (Some(text.as_str()), &limits[..], explanation.as_ref(), None)
        }
        Some(Answer::Families(families)) => (None, &[][..], None, Some(families)),
        None => (None, &[][..], None, None),
    };
    let (reasons, similar, omitted) = match explanation {
        None => (None, &[][..], 0),
        Some(Explanation::Symmetry(_)) => (Some(&[][..]), &[][..], 0),
        Some(Explanation::NotSymmetry { reasons, similar, omitted, .. }) => {
            (Some(&reasons[..]), &similar[..], *omitted)
        }
    };
    let permutation = explanation.and_then(|explanation| match explanation {
        Explanation::Symmetry(completed) => Some(completed.description.cycles()),
        Explanation::NotSymmetry { .. } => None,
    });
    let object = DetectionObject {
        header: Header::new("detect", findings.model(), invocation),
        symmetry: symmetry_object(findings, &lines),
        properties: properties.collect(),
        request,
        is_symmetry: reasons.map(<[Reason]>::is_empty),
        permutation,
        limits: limits.iter().map(|limit| located(&lines, &limit.text, limit.span)).collect(),
        reasons: reasons.map(|reasons| {
            let similar = similar.iter().copied().chain(std::iter::repeat(0));
            let objects = reason_objects(&lines, reasons).into_iter().zip(similar);
            objects
                .map(|(object, similar)| ReasonObject { similar: (similar > 0).then_some(similar), ..object })
                .collect()
        }),
        omitted_reasons: (omitted > 0).then_some(omitted),
        families: families.map(|list| list.iter().map(|family| family_object(model, &lines, family)).collect()),
        seconds: seconds(findings.elapsed),
        peak_memory_bytes: findings.peak_memory,
        diagnostics: diagnostic_objects(&model.source, findings.model().warnings()),
    };
    write(writer, &object)
}

fn symmetry_object<'a>(findings: &'a Detected, lines: &Lines<'a>) -> SymmetryObject<'a> {
    let model = findings.model().ir();
    let phases = named(&findings.phases);
    let refused = findings.refused.iter().map(|Refused { ty, first, second, reasons }| RefusedObject {
        r#type: model.types[*ty].name.as_deref(),
        values: [model.value_name(*ty, *first), model.value_name(*ty, *second)],
        reasons: reason_objects(lines, reasons),
    });
    let fixed = findings.fixed.iter().map(|fixed| FixedObject {
        variable: &model.variables[fixed.variable].name,
        reason: located(lines, &fixed.reason, fixed.span),
    });
    SymmetryObject {
        source: match findings.source {
            Symmetry::Auto => "auto",
            Symmetry::Declared => "declared",
            Symmetry::Off => "off",
        },
        order: findings.order.to_string(),
        structure: &findings.structure,
        complete: findings.complete,
        text: findings.text.as_ref().map(|text| TextObject {
            order: text.order.to_string(),
            structure: &text.structure,
            strict: text.is_strict,
            seconds: seconds(text.elapsed),
        }),
        only_text: findings.only_text.as_deref(),
        generators: findings
            .generators
            .iter()
            .map(|generator| GeneratorObject { cycles: generator.cycles() })
            .collect(),
        types: findings.moved.types.iter().filter_map(|&ty| model.types[ty].name.as_deref()).collect(),
        variables: findings.moved.variables.iter().map(|&variable| model.variables[variable].name.as_str()).collect(),
        fixed: fixed.collect(),
        numbers: findings.numbers.iter().map(|&variable| model.variables[variable].name.as_str()).collect(),
        refused: refused.collect(),
        certification: findings.certification.map(|report| CertificationObject {
            exhausted: report.exhausted,
            by_normal_form: report.by_normal_form,
            runs: report.runs,
        }),
        graph: findings.graph_size.map(|(nodes, edges)| GraphObject { nodes, edges }),
        seconds_by_phase: phases.iter().map(|&(name, duration)| (name, seconds(duration))).collect(),
        seconds: seconds(phases.iter().map(|(_, duration)| *duration).sum()),
    }
}

fn family_object<'a>(model: &'a Model, lines: &Lines<'a>, family: &'a Family) -> FamilyObject<'a> {
    let names = |class: &Vec<i64>| class.iter().map(|&value| family.of.value_title(model, value)).collect();
    let locate = |reason: &'a Reason| located(lines, &reason.text, reason.span);
    FamilyObject {
        r#type: family.of.is_named(model).then(|| family.of.title(model)),
        classes: family.classes.iter().map(names).collect(),
        separators: family.separators.iter().map(|separator| separator.as_ref().map(locate)).collect(),
    }
}

fn reason_objects<'a>(lines: &Lines<'a>, reasons: &'a [Reason]) -> Vec<ReasonObject<'a>> {
    reasons.iter().map(|reason| located(lines, &reason.text, reason.span)).collect()
}

/// A message with its place.
pub(crate) fn located<'a>(lines: &Lines<'a>, message: &'a str, span: Span) -> ReasonObject<'a> {
    let place = place(span).map(|span| lines.place(span));
    ReasonObject {
        message,
        file: place.map(|place| place.file),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        similar: None,
    }
}
