//! `quotient check`: search, check every property, show the result.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use quotient_engines::{
    CrossCheck, Observer, Progress, Report, SearchOptions, SearchOrder, Spill, StopReason, StoreMode,
};
use quotient_frontends::{Language, UNSUPPORTED_PROPERTY};
use quotient_ir::{DeadlockMode, Diagnostic, Model, PropertyId, PropertyKind, Severity};

use crate::arguments::{CheckArguments, Format, ReductionName, StoreName, SymmetryName};
use crate::commands::adaptive::{self, Searched};
use crate::commands::reduction::{self, Choice, Pending, Symmetries};
use crate::commands::selection::{DEADLOCK, ERRORS, named_properties};
use crate::commands::trial::Trial;
use crate::commands::{deadlock_mode, engine_failure, exit_status, search_options, show_warnings};
use crate::failure::Failure;
use crate::load::{LoadedModel, load_model_and_claims};
use crate::memory::peak_bytes;
use crate::render::human::Outcome;
use crate::render::sequence_chart::sequence_chart;
use crate::render::{human, json};
use crate::terminal::{Palette, complain, print, print_with};
use crate::watch::Watch;

/// Runs the command.
pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let loaded = Arc::new(load_model_and_claims(&arguments.model)?);
    let model = &loaded.model;
    if arguments.msc.is_some() && loaded.language != Language::Promela {
        return Err(Failure::Usage("--msc draws runs of Promela models".into()));
    }
    let options = SearchOptions {
        deadlock: deadlock_mode(arguments.deadlock, loaded.language),
        checkpoint: arguments.checkpoints.checkpoint.clone(),
        resume: arguments.checkpoints.resume.clone(),
        spill: arguments.spilling.spill.clone().map(|folder| Spill { folder, max_bytes: arguments.spilling.max_disk }),
        store: match arguments.store {
            StoreName::Exact => StoreMode::Exact,
            StoreName::Compact => StoreMode::Compact,
            StoreName::Bitstate => StoreMode::Bitstate { bytes: arguments.bitstate_size },
        },
        ..search_options(&arguments.search, &arguments.limits)
    };
    if options.order == SearchOrder::DepthFirst && (options.checkpoint.is_some() || options.resume.is_some()) {
        return Err(Failure::Usage("--checkpoint and --resume need a breadth-first search".into()));
    }
    if options.spill.is_some() {
        let refused = if options.order == SearchOrder::DepthFirst {
            Some("a depth-first search")
        } else if options.store != StoreMode::Exact {
            Some("an approximate store")
        } else if arguments.search.reduction == ReductionName::Adaptive {
            Some("adaptive reduction")
        } else {
            None
        };
        if let Some(refused) = refused {
            return Err(Failure::Usage(format!("--spill cannot be used with {refused}")));
        }
    }
    if options.store != StoreMode::Exact {
        let refused = if options.order == SearchOrder::DepthFirst {
            Some("a depth-first search")
        } else if options.checkpoint.is_some() || options.resume.is_some() {
            Some("checkpoints")
        } else if arguments.cross_check {
            Some("--cross-check")
        } else if model.properties.iter().any(|property| property.kind == PropertyKind::AlwaysReachable) {
            Some("liveness properties")
        } else {
            None
        };
        if let Some(refused) = refused {
            return Err(Failure::Usage(format!("an approximate store cannot be used with {refused}")));
        }
    }
    let options = select_properties(model, &arguments.properties, options)?;
    if arguments.properties.is_empty() {
        refuse_unsupported(&loaded)?;
    }
    show_warnings(&model.source, &loaded.warnings);

    let mut watch = Watch::start(arguments.limits.timeout, &arguments.output)
        .with_checkpoints(arguments.checkpoints.checkpoint_every);
    let found = search(&loaded, arguments, &options, &mut watch);
    let elapsed = watch.finish();
    let Found { symmetries, report, cross_check } = &found?;
    let outcome = Outcome {
        model,
        layout: &loaded.layout,
        report,
        symmetries: symmetries.as_ref(),
        cross_check: cross_check.as_ref(),
        elapsed,
        peak_memory: peak_bytes(),
    };
    let trace = report.properties.iter().find_map(|property| property.trace.as_ref());
    if let (Some(path), Some(trace)) = (&arguments.msc, trace) {
        let chart = sequence_chart(model, &loaded.layout, trace).unwrap_or_default();
        std::fs::write(path, chart).map_err(|error| Failure::file("write", path, &error))?;
    }
    match arguments.output.format {
        Format::Human => print(&human::check(&outcome, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| json::search(writer, "check", &outcome, None, &loaded.warnings))?,
    };
    Ok(ExitCode::from(exit_status(report.verdict)))
}

/// What a search found.
struct Found {
    symmetries: Option<Symmetries>,
    report: Report,
    cross_check: Option<CrossCheck>,
}

/// Finds symmetries and searches with them.
fn search(
    loaded: &Arc<LoadedModel>,
    arguments: &CheckArguments,
    options: &SearchOptions,
    watch: &mut Watch,
) -> Result<Found, Failure> {
    let LoadedModel { model, layout, .. } = &**loaded;
    let properties = reduction::checked_properties(loaded, options.properties.as_deref());
    if arguments.search.reduction == ReductionName::Adaptive {
        return search_adaptively(loaded, arguments, &properties, options, watch);
    }
    if arguments.cross_check
        && matches!(arguments.search.reduction, ReductionName::Markers | ReductionName::MarkersTrees)
    {
        let message = "--cross-check compares exact searches, and markers may be approximate: use markers-canonical";
        return Err(Failure::Usage(message.into()));
    }
    // A comparison needs both searches, and there is nothing to be gained from being early.
    // One that goes on later must be the same search then.
    let waits = arguments.cross_check || options.checkpoint.is_some() || options.resume.is_some();
    let patience = (!waits).then_some(reduction::PATIENCE);
    let wish = (arguments.symmetry, arguments.search.reduction);
    let internal = |error| engine_failure(&model.source, error);
    let symmetries = match reduction::choose(loaded, wish, properties.clone(), watch, patience)? {
        Choice::Made(symmetries) => *symmetries,
        Choice::Pending(pending) => {
            let mut race = Race { watch, pending, found: None };
            let report = quotient_engines::check(model, layout, None, options, &mut race).map_err(internal)?;
            match race.found.transpose()? {
                Some(symmetries) if symmetries.reduces() => Some(symmetries),
                symmetries => {
                    let unknown =
                        || race.pending.give_up("not known, since the search was over before they were found");
                    let symmetries = Some(symmetries.unwrap_or_else(unknown));
                    return Ok(Found { symmetries, report, cross_check: None });
                }
            }
        }
    };
    if arguments.cross_check && symmetries.is_none() {
        let message = "--cross-check compares a reduced search with an unreduced one, and this one is not reduced";
        return Err(Failure::Usage(message.into()));
    }
    let reduced = symmetries.as_ref().filter(|symmetries| symmetries.reduces());
    let (report, cross_check) = match reduced.and_then(|symmetries| symmetries.plan.as_ref()) {
        Some(plan) if arguments.cross_check => {
            let options = SearchOptions { cross_check: true, spill: None, ..options.clone() };
            let compared = quotient_engines::check(model, layout, Some(plan), &options, watch);
            let mut report = compared.map_err(internal)?;
            let comparison = report.cross_check.take();
            (report, comparison)
        }
        plan => {
            // A search without symmetries may be what was wished for, or there are none.
            let known = symmetries.as_ref().and_then(|symmetries| symmetries.plan.as_ref());
            let order = known.filter(|_| wish == (SymmetryName::Auto, ReductionName::Auto) && !arguments.cross_check);
            let order = order.map(|plan| plan.symmetry.order.clone());
            let mut trial = Trial::new(watch, loaded, &properties, options, order);
            let report = quotient_engines::check(model, layout, plan, options, &mut trial).map_err(internal)?;
            if let Some(searched) = trial.found.transpose()? {
                let Searched { used, report, .. } = *searched;
                let symmetries = symmetries.map(|symmetries| symmetries.with_adaptive(used));
                return Ok(Found { symmetries, report, cross_check: None });
            }
            (report, None)
        }
    };
    if arguments.cross_check && cross_check.is_none() {
        complain("note: there was nothing to compare, since the search was not reduced\n");
    }
    Ok(Found { symmetries, report, cross_check })
}

/// Searches by adaptive reduction, because that is what was asked for.
fn search_adaptively(
    loaded: &LoadedModel,
    arguments: &CheckArguments,
    properties: &[PropertyId],
    options: &SearchOptions,
    watch: &mut Watch,
) -> Result<Found, Failure> {
    if arguments.symmetry == SymmetryName::Off {
        return Err(Failure::Usage("--reduction adaptive needs symmetries: add --symmetry auto".into()));
    }
    let searched = adaptive::search(loaded, properties, options, arguments.cross_check, watch)?;
    let Searched { used, report, cross_check } = searched;
    Ok(Found { symmetries: Some(Symmetries::of_adaptive(used)), report, cross_check })
}

/// A search without symmetries that ends when some are found after all.
struct Race<'w> {
    watch: &'w mut Watch,
    pending: Pending,
    found: Option<Result<Symmetries, Failure>>,
}

impl Observer for Race<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        if self.found.is_none() {
            self.found = self.pending.wait(Duration::ZERO).transpose();
        }
        match &self.found {
            Some(Ok(symmetries)) if !symmetries.reduces() => self.watch.progress(progress),
            None => self.watch.progress(progress),
            Some(_) => ControlFlow::Break(StopReason::Interrupted),
        }
    }
}

/// A verdict on a model must not leave out what the model asks for.
fn refuse_unsupported(loaded: &LoadedModel) -> Result<(), Failure> {
    let unsupported = |it: &&Diagnostic| it.code == UNSUPPORTED_PROPERTY;
    let mut diagnostics: Vec<Diagnostic> = loaded.warnings.iter().filter(unsupported).cloned().collect();
    if diagnostics.is_empty() {
        return Ok(());
    }
    for diagnostic in &mut diagnostics {
        diagnostic.severity = Severity::Error;
        diagnostic.help = Some("name the properties to check with --property, for example errors and deadlock".into());
    }
    Err(Failure::Model { source: loaded.model.source.clone(), diagnostics })
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
