//! `quotient check`: search, check every property, show the result.

use std::process::ExitCode;

use quotient_engines::SearchOptions;
use quotient_ir::{DeadlockMode, Model, PropertyKind};

use crate::arguments::{CheckArguments, Format};
use crate::commands::{deadlock_mode, engine_failure, exit_status, search_options, show_warnings};
use crate::failure::Failure;
use crate::load::load_model;
use crate::memory::peak_bytes;
use crate::names::property_name;
use crate::render::human::Outcome;
use crate::render::{human, json};
use crate::terminal::{Palette, print, print_with};
use crate::watch::Watch;

/// The subjects that every model has, by their names on the command line.
const DEADLOCK: &str = "deadlock";
const ERRORS: &str = "errors";

/// Runs the command.
pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let loaded = load_model(&arguments.model)?;
    let model = &loaded.model;
    let options = SearchOptions {
        deadlock: deadlock_mode(arguments.deadlock),
        ..search_options(&arguments.search, &arguments.limits)
    };
    let options = select_properties(model, &arguments.properties, options)?;
    show_warnings(&model.source, &loaded.warnings);

    let mut watch = Watch::start(arguments.limits.timeout, &arguments.output);
    let result = quotient_engines::check(model, &options, &mut watch);
    let elapsed = watch.finish();
    let report = &result.map_err(|error| engine_failure(&model.source, error))?;
    let outcome = Outcome { model, layout: &loaded.layout, report, elapsed, peak_memory: peak_bytes() };
    match arguments.output.format {
        Format::Human => print(&human::check(&outcome, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| json::search(writer, "check", &outcome, None, &loaded.warnings))?,
    };
    Ok(ExitCode::from(exit_status(report.verdict)))
}

/// Leaves only the properties with the given names; all if none is given.
fn select_properties(model: &Model, names: &[String], options: SearchOptions) -> Result<SearchOptions, Failure> {
    if names.is_empty() {
        return Ok(options);
    }
    let claims: Vec<_> = model
        .properties
        .iter_enumerated()
        .filter(|(_, property)| property.kind != PropertyKind::Assumption)
        .map(|(id, _)| (id, property_name(model, id)))
        .collect();
    for name in names {
        let is_built_in = name == DEADLOCK || name == ERRORS;
        if !is_built_in && !claims.iter().any(|(_, claim)| claim == name) {
            let known = claims.iter().map(|(_, claim)| claim.as_str()).chain([DEADLOCK, ERRORS]);
            return Err(unknown_property(name, known.collect()));
        }
    }
    let is_wanted = |subject: &str| names.iter().any(|name| name == subject);
    if is_wanted(DEADLOCK) && options.deadlock == DeadlockMode::Off {
        return Err(Failure::Usage("--property deadlock contradicts --deadlock off".into()));
    }
    Ok(SearchOptions {
        deadlock: if is_wanted(DEADLOCK) { options.deadlock } else { DeadlockMode::Off },
        errors: is_wanted(ERRORS),
        properties: Some(claims.iter().filter(|(_, name)| is_wanted(name)).map(|&(id, _)| id).collect()),
        ..options
    })
}

/// Names what may have been meant: the nearest names, or all if none is near and there are few.
fn unknown_property(name: &str, mut known: Vec<&str>) -> Failure {
    const SUGGESTIONS: usize = 3;
    const FEW: usize = 12;
    const SIMILAR: f64 = 0.75;
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    known.dedup();
    let lower = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = known
        .iter()
        .map(|&candidate| {
            let other = candidate.to_lowercase();
            let contained = !lower.is_empty() && (other.contains(&lower) || lower.contains(&other));
            (if contained { 1.0 } else { strsim::jaro_winkler(&lower, &other) }, candidate)
        })
        .filter(|&(similarity, _)| similarity >= SIMILAR)
        .collect();
    near.sort_by(|left, right| right.0.total_cmp(&left.0));
    let near: Vec<&str> = near.into_iter().map(|(_, candidate)| candidate).take(SUGGESTIONS).collect();
    let hint = if !near.is_empty() {
        format!("; did you mean {}?", quoted(&near))
    } else if known.len() <= FEW {
        format!("; it has {}", quoted(&known))
    } else {
        String::new()
    };
    Failure::Usage(format!("the model has no property `{name}`{hint}"))
}
