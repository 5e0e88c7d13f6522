//! `quotient detect --family`: the symmetries as a function of the constants of the text.

use std::fmt::Write as _;
use std::process::ExitCode;

use quotient::{Control, Factor, Limit, Model, Preserve, SizeFamily};

use crate::arguments::Format;
use crate::failure::{Failure, HOLDS};
use crate::invocation::Invocation;
use crate::render::diagnostics::Lines;
use crate::render::header::Header;
use crate::render::json;
use crate::render::symmetry::{ReasonObject, located, place};
use crate::terminal::{Palette, print, print_with, visible};

/// More places that limit a role than this are counted.
const LISTED_LIMITS: usize = 4;

#[derive(serde::Serialize)]
struct FamilyObject<'a> {
    #[serde(flatten)]
    header: Header<'a>,
    group: &'a str,
    for_all: bool,
    constants: Vec<ConstantObject<'a>>,
    factors: Vec<FactorObject<'a>>,
    members: Vec<MemberObject<'a>>,
}

#[derive(serde::Serialize)]
struct ConstantObject<'a> {
    name: &'a str,
    values: &'a [i64],
}

#[derive(serde::Serialize)]
struct FactorObject<'a> {
    roles: &'a [String],
    size: &'a str,
    group: Option<&'a str>,
    for_all: bool,
    uses: &'a [String],
    limits: Vec<ReasonObject<'a>>,
}

#[derive(serde::Serialize)]
struct MemberObject<'a> {
    constants: Vec<SettingObject<'a>>,
    structure: &'a str,
}

#[derive(serde::Serialize)]
struct SettingObject<'a> {
    name: &'a str,
    value: i64,
}

/// Runs the command.
pub(super) fn run(
    model: &Model,
    preserve: &Preserve,
    control: &Control,
    format: Format,
    invocation: &Invocation,
) -> Result<ExitCode, Failure> {
    let found = quotient::family(model, preserve, control)?;
    match format {
        Format::Human => print(&human(model, &found, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| json::write(writer, &object(model, &found, invocation)))?,
    };
    Ok(ExitCode::from(HOLDS))
}

fn object<'a>(model: &'a Model, found: &'a SizeFamily, invocation: &'a Invocation) -> FamilyObject<'a> {
    let lines = Lines::new(model.source());
    let limits = |limits: &'a [Limit]| limits.iter().map(|limit| located(&lines, &limit.text, limit.span)).collect();
    let factor = |factor: &'a Factor| FactorObject {
        roles: &factor.roles,
        size: &factor.size,
        group: factor.group.as_deref(),
        for_all: factor.for_all,
        uses: &factor.uses,
        limits: limits(&factor.limits),
    };
    let members = found.members.iter().map(|member| MemberObject {
        constants: member.constants.iter().map(|(name, value)| SettingObject { name, value: *value }).collect(),
        structure: &member.structure,
    });
    FamilyObject {
        header: Header::new("detect", model, invocation),
        group: &found.group,
        for_all: found.for_all,
        constants: found.constants.iter().map(|(name, values)| ConstantObject { name, values }).collect(),
        factors: found.factors.iter().map(factor).collect(),
        members: members.collect(),
    }
}

fn human(model: &Model, found: &SizeFamily, palette: Palette) -> String {
    let names: Vec<&str> = found.constants.iter().map(|(name, _)| name.as_str()).collect();
    let mut text = String::new();
    let extent = match (found.for_all, &names[..]) {
        (_, []) => String::new(),
        (true, names) => format!(", for all {}", names.join(", ")),
        (false, _) => ", for the sizes that were read".to_owned(),
    };
    let _ = writeln!(text, "{}: {}{extent}", palette.good("family"), found.group);
    let lines = Lines::new(model.source());
    for factor in &found.factors {
        let roles = visible(&factor.roles.join(", "));
        let group = factor.group.as_deref().unwrap_or("nothing but the identity");
        let all = if factor.for_all { "" } else { ", as far as was read" };
        let all = if factor.group.is_some() && !names.is_empty() { all } else { "" };
        let _ = writeln!(text, "\n{}: {} values, {group}{all}", palette.strong(&roles), factor.size);
        if !factor.uses.is_empty() {
            let _ = writeln!(text, "  {}", palette.faint(&factor.uses.join(", ")));
        }
        for limit in factor.limits.iter().take(LISTED_LIMITS) {
            let _ = writeln!(text, "  limited: {}", visible(&limit.text));
            if let Some(span) = place(limit.span) {
                text.push_str(&lines.quotation(span, "    ", palette));
            }
        }
        let more = factor.limits.len().saturating_sub(LISTED_LIMITS);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more");
        }
    }
    text.push('\n');
    if found.constants.is_empty() {
        text.push_str("no constant of the text changes the number of values\n");
    }
    for (name, values) in &found.constants {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "{:<11}  {name} = {}", "read with", values.join(", "));
    }
    text
}
