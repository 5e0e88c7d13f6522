//! `quotient explore`: the state space, or its quotient, without properties.

use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;
use std::sync::Arc;

use quotient_engines::SearchOptions;
use quotient_ir::DeadlockMode;

use crate::arguments::{ExploreArguments, Export, ExportFormat, Format, ReductionName};
use crate::commands::{adaptive, deadlock_mode, engine_failure, exit_status, reduction, search_options, show_warnings};
use crate::failure::Failure;
use crate::graph::{CollectedGraph, GraphCollector, LABELLED_STATES, Witnesses};
use crate::load::{LoadedModel, load_model};
use crate::memory::peak_bytes;
use crate::render::human::{GraphCounts, Outcome};
use crate::render::{human, json, quantity};
use crate::terminal::{Palette, complain, print, print_with};
use crate::watch::Watch;

/// Runs the command.
pub(crate) fn run(arguments: &ExploreArguments) -> Result<ExitCode, Failure> {
    let loaded = Arc::new(load_model(&arguments.model)?);
    if arguments.search.reduction == ReductionName::Adaptive {
        return explore_guarded(arguments, &loaded);
    }
    let LoadedModel { model, layout, warnings, .. } = &*loaded;
    let options = SearchOptions {
        deadlock: DeadlockMode::Off,
        properties: Some(Vec::new()),
        ..search_options(&arguments.search, &arguments.limits)
    };
    show_warnings(&model.source, warnings);
    // Created first, so that a long search does not end with nowhere to write.
    let export = arguments.export.as_ref().map(|export| create(export).map(|file| (export, file))).transpose()?;

    let deadlock = deadlock_mode(arguments.deadlock, loaded.language);
    let watch = Watch::start(arguments.limits.timeout, &arguments.output);
    let wish = (arguments.symmetry, arguments.search.reduction);
    if let ReductionName::Markers | ReductionName::MarkersTrees | ReductionName::MarkersCanonical =
        arguments.search.reduction
    {
        let message = "--reduction markers is for `check`: the edges of the graph need representatives";
        return Err(Failure::Usage(message.into()));
    }
    let symmetries = reduction::choose(&loaded, wish, Vec::new(), &watch, None)?.made();
    let plan = symmetries.as_ref().and_then(|symmetries| symmetries.plan.as_ref());
    let witnesses =
        plan.and_then(|plan| plan.reduction.as_ref()).map(|reduction| Witnesses::new(model, layout, reduction));
    let export_format = arguments.export.as_ref().map(|export| export.format);
    let mut collector = GraphCollector::new(watch, deadlock, export_format, witnesses);
    let result = quotient_engines::check(model, layout, plan, &options, &mut collector);
    let (graph, watch) = collector.finish();
    let elapsed = watch.finish();
    let report = &result.map_err(|error| engine_failure(&model.source, error))?;
    let is_complete = report.stop_reason.is_none();

    if let Some((export, file)) = export {
        write(&graph, export, file, &loaded, is_complete)?;
    }

    let deadlocks = (is_complete && deadlock != DeadlockMode::Off).then(|| graph.deadlocks());
    let counts = GraphCounts { initial: graph.initial_states(), deadlocks };
    let outcome = Outcome {
        model,
        layout,
        report,
        symmetries: symmetries.as_ref(),
        cross_check: None,
        elapsed,
        peak_memory: peak_bytes(),
    };
    match arguments.output.format {
        Format::Human => print(&human::explore(&outcome, &counts, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| json::search(writer, "explore", &outcome, Some(&counts), warnings))?,
    };
    Ok(ExitCode::from(exit_status(report.verdict)))
}

/// Writes a graph to its file.
fn write(
    graph: &CollectedGraph,
    export: &Export,
    file: File,
    loaded: &LoadedModel,
    is_complete: bool,
) -> Result<(), Failure> {
    let writer = BufWriter::new(file);
    let written = match export.format {
        ExportFormat::Aldebaran => graph.write_aldebaran(&loaded.model, writer),
        ExportFormat::Dot => graph.write_dot(&loaded.model, &loaded.layout, writer),
    };
    written.map_err(|error| Failure::file("write", &export.path, &error))?;
    if !is_complete {
        complain(&format!("note: the graph in `{}` is not complete\n", export.path.display()));
    }
    if export.format == ExportFormat::Dot && graph.is_too_large_to_label() {
        let limit = quantity::count(LABELLED_STATES as u64);
        complain(&format!("note: the graph has more than {limit} states; its nodes are only numbered\n"));
    }
    Ok(())
}

/// The guarded annotated quotient of a model that is only partly symmetric.
fn explore_guarded(arguments: &ExploreArguments, loaded: &LoadedModel) -> Result<ExitCode, Failure> {
    show_warnings(&loaded.model.source, &loaded.warnings);
    let export = arguments.export.as_ref().map(|export| create(export).map(|file| (export, file))).transpose()?;
    let mut watch = Watch::start(arguments.limits.timeout, &arguments.output);
    let found = adaptive::explore(loaded, arguments.limits.max_states, &mut watch);
    let elapsed = watch.finish();
    let (graph, symmetries, report) = found?;
    if let Some((export, file)) = export {
        write(&graph, export, file, loaded, report.stop_reason.is_none())?;
    }
    let counts = GraphCounts { initial: graph.initial_states(), deadlocks: None };
    let outcome = Outcome {
        model: &loaded.model,
        layout: &loaded.layout,
        report: &report,
        symmetries: Some(&symmetries),
        cross_check: None,
        elapsed,
        peak_memory: peak_bytes(),
    };
    match arguments.output.format {
        Format::Human => print(&human::explore(&outcome, &counts, Palette::for_stdout()))?,
        Format::Json => {
            print_with(|writer| json::search(writer, "explore", &outcome, Some(&counts), &loaded.warnings))?
        }
    };
    Ok(ExitCode::from(exit_status(report.verdict)))
}

fn create(export: &Export) -> Result<File, Failure> {
    File::create(&export.path).map_err(|error| Failure::file("write", &export.path, &error))
}
