//! `quotient check`: search, check every property, show the result.

use std::process::ExitCode;
use std::sync::Arc;

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
use crate::terminal::{Palette, complain, print, print_with};
use crate::watch::Watch;

/// Runs the command.
pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let loaded = Arc::new(load_model(&arguments.model)?);
    let model = &loaded.model;
    let options = SearchOptions {
        deadlock: deadlock_mode(arguments.deadlock),
        ..search_options(&arguments.search, &arguments.limits)
    };
    let options = select_properties(model, &arguments.properties, options)?;
    show_warnings(&model.source, &loaded.warnings);

    let mut watch = Watch::start(arguments.limits.timeout, &arguments.output);
    let properties = reduction::checked_properties(&loaded, options.properties.as_deref());
    let symmetries = reduction::choose(&loaded, arguments.symmetry, arguments.search.reduction, properties, &watch)?;
    if arguments.cross_check && symmetries.is_none() {
        return Err(Failure::Usage(
            "--cross-check compares a reduced search with an unreduced one, and this one is not \
                                   reduced"
                .into(),
        ));
    }
    let reduced = symmetries.as_ref().filter(|symmetries| symmetries.reduces());
    let result = match reduced.and_then(|symmetries| symmetries.plan.as_ref()) {
        Some(plan) if arguments.cross_check => {
            quotient_engines::cross_check(model, &loaded.layout, plan, &options, &mut watch)
                .map(|(report, comparison)| (report, Some(comparison)))
        }
        Some(plan) => {
            quotient_engines::check_with(model, &loaded.layout, plan, &options, &mut watch).map(|report| (report, None))
        }
        None => quotient_engines::check(model, &options, &mut watch).map(|report| (report, None)),
    };
    let elapsed = watch.finish();
    let (report, cross_check) = &result.map_err(|error| engine_failure(&model.source, error))?;
    if arguments.cross_check && cross_check.is_none() {
        complain("note: there was nothing to compare, since the search was not reduced\n");
    }
    let outcome = Outcome {
        model,
        layout: &loaded.layout,
        report,
        symmetries: symmetries.as_ref(),
        cross_check: cross_check.as_ref(),
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
