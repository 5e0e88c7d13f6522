//! `quotient detect --partial`: what each rule distinguishes, and which notion of approximate symmetry the state space
//! satisfies.

use std::fmt::Write as _;
use std::process::ExitCode;

use quotient::ir::Valuation;
use quotient::{Approximations, Control, Image, Model, PartialReport, Preserve, RuleUse, Silent, TooManyStates};

use crate::arguments::Format;
use crate::failure::{Failure, HOLDS};
use crate::invocation::Invocation;
use crate::render::header::Header;
use crate::render::json;
use crate::render::quantity;
use crate::terminal::{print, print_with};
use quotient::names::{property_title, scalar_text};

/// The output.
struct Findings {
    families: Vec<FamilyObject>,
    rules: Vec<RuleUse>,
    /// Properties that distinguish members, with their partitions.
    properties: Vec<(String, String)>,
    structure: Result<StructureObject, TooManyStates>,
}

#[derive(serde::Serialize)]
struct PartialObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    families: &'a [FamilyObject],
    rules: Vec<RuleObject<'a>>,
    properties: Vec<PropertyObject<'a>>,
    structure: Option<&'a StructureObject>,
}

#[derive(serde::Serialize)]
struct FamilyObject {
    name: String,
    size: usize,
}

#[derive(serde::Serialize)]
struct RuleObject<'a> {
    name: &'a str,
    partition: Option<&'a str>,
    symmetric: bool,
    cause: Option<&'a str>,
}

#[derive(serde::Serialize)]
struct PropertyObject<'a> {
    name: &'a str,
    partition: &'a str,
}

/// The state space. A notion that does not hold has a witness; null if it was too expensive to decide.
#[derive(serde::Serialize)]
struct StructureObject {
    states: usize,
    transitions: usize,
    symmetric: NotionObject,
    near: NotionObject,
    rough: Option<NotionObject>,
    #[serde(rename = "virtual")]
    virtual_symmetry: NotionObject,
}

#[derive(serde::Serialize)]
struct NotionObject {
    holds: bool,
    witness: Option<WitnessObject>,
}

/// A transition and its image under a permutation.
#[derive(serde::Serialize)]
struct WitnessObject {
    from: String,
    to: String,
    permutation: String,
    image_from: String,
    image_to: String,
}

/// Runs the command.
pub(super) fn run(
    model: &Model,
    preserve: &Preserve,
    control: &Control,
    format: Format,
    invocation: &Invocation,
) -> Result<ExitCode, Failure> {
    let report = quotient::partial_symmetry(model, preserve, control, &mut Silent)?;
    let PartialReport { model, families, rules, properties, structure } = report;
    let model = &model;
    let named = |(id, partition)| (property_title(model.ir(), id), partition);
    let findings = Findings {
        families: families.into_iter().map(|(name, size)| FamilyObject { name, size }).collect(),
        rules,
        properties: properties.into_iter().map(named).collect(),
        structure: structure.map(|structure| structure_object(model, structure)),
    };
    match format {
        Format::Human => print(&human(&findings))?,
        Format::Json => {
            let object = PartialObject {
                header: Header::new("detect", model, invocation),
                families: &findings.families,
                rules: findings.rules.iter().map(rule_object).collect(),
                properties: findings
                    .properties
                    .iter()
                    .map(|(name, partition)| PropertyObject { name, partition })
                    .collect(),
                structure: findings.structure.as_ref().ok(),
            };
            print_with(|writer| json::write(writer, &object))?
        }
    };
    Ok(ExitCode::from(HOLDS))
}

fn structure_object(model: &Model, found: Approximations) -> StructureObject {
    let notion = |result: Result<(), Box<Image>>| NotionObject {
        holds: result.is_ok(),
        witness: result.err().map(|image| witness_object(model, *image)),
    };
    StructureObject {
        states: found.states,
        transitions: found.transitions,
        symmetric: notion(found.symmetric),
        near: notion(found.near),
        rough: found.rough.map(notion),
        virtual_symmetry: notion(found.virtual_symmetry),
    }
}

fn witness_object(model: &Model, image: Image) -> WitnessObject {
    let Image { witness, permutation } = image;
    let (first, second) = &witness.transition;
    let (image_first, image_second) = &witness.image;
    // Values that are equal in all four states are omitted.
    let all = [first, second, image_first, image_second];
    let varies = |slot: usize| all.iter().any(|state| state.0[slot] != first.0[slot]);
    let text = |state: &Valuation| {
        let slots = model.layout().slots.iter().enumerate().filter(|&(number, _)| varies(number));
        let parts: Vec<String> = slots
            .map(|(number, slot)| format!("{} = {}", slot.name, scalar_text(model.ir(), slot.ty, state.0[number])))
            .collect();
        parts.join(", ")
    };
    WitnessObject {
        from: text(first),
        to: text(second),
        permutation,
        image_from: text(image_first),
        image_to: text(image_second),
    }
}

fn rule_object(rule: &RuleUse) -> RuleObject<'_> {
    RuleObject {
        name: &rule.name,
        partition: rule.partition.as_deref(),
        symmetric: !rule.tells_apart,
        cause: rule.cause.as_deref(),
    }
}

fn human(findings: &Findings) -> String {
    let families: Vec<String> =
        findings.families.iter().map(|family| format!("{} values of {}", family.size, family.name)).collect();
    let mut text = format!("families     {}\n\n", families.join(", "));
    let width = findings.rules.iter().map(|rule| rule.name.chars().count()).max().unwrap_or(0).min(32);
    for rule in &findings.rules {
        let partition = rule.partition.as_deref().filter(|_| rule.tells_apart).unwrap_or("all alike");
        let cause = rule.cause.as_ref().map_or_else(String::new, |cause| format!(", because of {cause}"));
        let _ = writeln!(text, "{:<width$}  {partition}{cause}", rule.name);
    }
    for (name, partition) in &findings.properties {
        let _ = writeln!(text, "{name}  {partition}");
    }
    text.push('\n');
    match &findings.structure {
        Err(error) => {
            let _ = writeln!(text, "{error}: which notions of symmetry it enjoys is not looked at");
        }
        Ok(structure) => {
            let (states, transitions) = (structure.states as u64, structure.transitions as u64);
            let _ = writeln!(
                text,
                "structure    {} states, {} transitions",
                quantity::count(states),
                quantity::count(transitions)
            );
            let notions = [
                ("symmetric", Some(&structure.symmetric)),
                ("near", Some(&structure.near)),
                ("rough", structure.rough.as_ref()),
                ("virtual", Some(&structure.virtual_symmetry)),
            ];
            for (name, notion) in notions {
                let answer = match notion {
                    None => "not looked at".to_owned(),
                    Some(NotionObject { witness: None, .. }) => "yes".to_owned(),
                    Some(NotionObject { witness: Some(witness), .. }) => format!(
                        "no\n               {} → {}\n               under {} becomes {} → {}",
                        witness.from, witness.to, witness.permutation, witness.image_from, witness.image_to
                    ),
                };
                let _ = writeln!(text, "  {name:<10} {answer}");
            }
        }
    }
    text
}
