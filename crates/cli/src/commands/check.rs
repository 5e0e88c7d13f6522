//! `quotient check`: search, check every property, show the result.

use std::process::ExitCode;

use quotient_engines::SearchOptions;
use quotient_ir::{DeadlockMode, Model};

use crate::arguments::{CheckArguments, Format};
use crate::commands::selection::{DEADLOCK, ERRORS, named_properties};
use crate::commands::{deadlock_mode, engine_failure, exit_status, reduction, search_options, show_warnings};
use crate::failure::Failure;
use crate::load::load_model;
use crate::memory::peak_bytes;
use crate::render::human::Outcome;
use crate::render::{human, json};
use crate::terminal::{Palette, print, print_with};
use crate::watch::Watch;

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
    let reduction = reduction::choose(model, &loaded.layout, &arguments.search, &options)?;
    let result = match reduction.as_ref().and_then(|reduction| reduction.canonicalizer.as_ref()) {
        Some(canonicalizer) => {
            quotient_engines::check_quotient(model, &loaded.layout, canonicalizer, &options, &mut watch)
        }
        None => quotient_engines::check(model, &options, &mut watch),
    };
    let elapsed = watch.finish();
    let report = &result.map_err(|error| engine_failure(&model.source, error))?;
    let outcome = Outcome {
        model,
        layout: &loaded.layout,
        report,
        reduction: reduction.as_ref(),
        elapsed,
        peak_memory: peak_bytes(),
    };
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
    let properties = named_properties(model, names)?;
    let is_wanted = |subject: &str| names.iter().any(|name| name == subject);
    if is_wanted(DEADLOCK) && options.deadlock == DeadlockMode::Off {
        return Err(Failure::Usage("--property deadlock contradicts --deadlock off".into()));
    }
    Ok(SearchOptions {
        deadlock: if is_wanted(DEADLOCK) { options.deadlock } else { DeadlockMode::Off },
        errors: is_wanted(ERRORS),
        properties: Some(properties),
        ..options
    })
}
