//! `quotient explore`: the state space, or its quotient, without properties.

use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;

use quotient::{Control, Exploration, ExploreOptions, Keep, Lowering, Model, PartialOrder, SHOWN_STATES, Symmetry};

use quotient_explorer::{Found, Subject, Task};
use quotient_ir::Interpreter;

use crate::arguments::{AskedName, ExploreArguments, Export, ExportFormat, Format};
use crate::commands::{
    deadlock_mode, engine, exit_status, limits, load_model, order, reduction, serve, show_notes, show_warnings,
    symmetry, workers,
};
use crate::failure::Failure;
use crate::graph::{node_labels, write_aldebaran, write_dot};
use crate::invocation::Invocation;
use crate::render::human::{GraphCounts, Outcome};
use crate::render::trace::StateDetail;
use crate::render::{human, json, quantity};
use crate::terminal::{Palette, complain, print, print_with};
use crate::watch::{Display, cancel_on_interrupt};
use quotient::shown::StateShape;

/// Runs the command.
pub(crate) fn run(arguments: &ExploreArguments, invocation: &Invocation) -> Result<ExitCode, Failure> {
    let options = ExploreOptions {
        // A page shows one state of each orbit.
        symmetry: arguments.symmetry.map(symmetry).or(arguments.page.serve.then_some(Symmetry::Auto)),
        engine: engine(arguments.engine),
        reduction: reduction(arguments.search.reduction),
        partial_order: match arguments.partial_order {
            AskedName::On => PartialOrder::On,
            AskedName::Off => PartialOrder::Off,
        },
        deadlock: arguments.deadlock.map(deadlock_mode),
        order: order(arguments.search.search),
        threads: arguments.search.threads,
        store_passing: arguments.search.store_passing,
        keep: match arguments.export.as_ref().map(|export| export.format) {
            None => Keep::Counts,
            Some(ExportFormat::Aldebaran) => Keep::Edges,
            Some(ExportFormat::Dot) => Keep::States,
        },
        workers: workers::membership(&arguments.workers)?,
        limits: limits(&arguments.limits),
    };
    let is_drawing = arguments.export.as_ref().is_some_and(|export| export.format == ExportFormat::Dot);
    if !arguments.variables.is_empty() && !is_drawing {
        return Err(Failure::Usage("--variables is for --export FILE.dot".into()));
    }
    let control = Control::start(&options.limits);
    cancel_on_interrupt(&control);
    let model = load_model(&arguments.model, Lowering::for_exploration(), &control)?;
    options.check(&model)?;
    show_warnings(&model);
    if let Some(name) = arguments.variables.iter().find(|name| !has_variable(&model, name)) {
        return Err(unknown_variable(name));
    }
    if arguments.page.serve {
        if options.workers.is_some() {
            return Err(Failure::Usage("--serve is for a search on this machine: --workers is used without it".into()));
        }
        if arguments.export.is_some() {
            return Err(Failure::Usage("--serve writes no files: --export is used without it".into()));
        }
        return serve_page(arguments, invocation, model, options, &control);
    }
    // Created first, so that a long search does not fail at the end for lack of an output file.
    let export = arguments.export.as_ref().map(|export| create(export).map(|file| (export, file))).transpose()?;
    let mut display = Display::new(arguments.output.format, arguments.output.no_progress);
    let found = quotient::explore(&model, &options, &control, &mut display);
    display.clear();
    let found = found?;
    if options.workers.as_ref().is_some_and(|membership| membership.process != 0) {
        // The first process says it for all.
        return Ok(ExitCode::from(exit_status(found.report.verdict)));
    }
    show_notes(&found.report.notes);
    if let Some((export, file)) = export {
        write(&found, arguments, export, file, &model)?;
    }
    let outcome = outcome(&model, &options, &found);
    match arguments.output.format {
        Format::Human => print(&human::explore(&outcome, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| json::search(writer, "explore", &outcome, invocation))?,
    };
    Ok(ExitCode::from(exit_status(found.report.verdict)))
}

fn outcome<'a>(model: &'a Model, options: &ExploreOptions, found: &'a Exploration) -> Outcome<'a> {
    let is_drawn = options.partial_order == PartialOrder::Off
        && options.workers.is_none()
        && found.report.sets.is_none()
        && !found.report.counted;
    let initial = is_drawn.then(|| found.graph.initial().len() as u64);
    let counts = GraphCounts { initial, deadlocks: found.deadlocks, net: found.net.as_ref() };
    Outcome { model, report: &found.report, counts: Some(counts), detail: StateDetail::default() }
}

/// Serves a page about the state space.
fn serve_page(
    arguments: &ExploreArguments,
    invocation: &Invocation,
    model: Model,
    options: ExploreOptions,
    control: &Control,
) -> Result<ExitCode, Failure> {
    let (own, searched, invocation) = (model.clone(), model.clone(), invocation.clone());
    let symmetry = options.symmetry.unwrap_or_default();
    let task: Task = Box::new(move |control, observer| {
        let found = quotient::explore(&own, &options, control, observer)?;
        let outcome = outcome(&own, &options, &found);
        let json = json::text(|writer| json::search(writer, "explore", &outcome, &invocation));
        Ok(Found { shown: found.report.clone(), report: found.report, json })
    });
    serve::run(&arguments.page, Subject { model, searched, command: "explore", symmetry, task }, control)
}

/// Writes a graph to its file.
fn write(
    found: &Exploration,
    arguments: &ExploreArguments,
    export: &Export,
    file: File,
    model: &Model,
) -> Result<(), Failure> {
    let writer = BufWriter::new(file);
    let interpreter = Interpreter::new(model.ir(), model.layout());
    let written = match export.format {
        ExportFormat::Aldebaran => write_aldebaran(&found.graph, &interpreter, writer),
        ExportFormat::Dot => {
            let labels = node_labels(&found.graph, model.ir(), model.layout(), &arguments.variables);
            let labels = labels.map_err(|name| unknown_variable(&name))?;
            write_dot(&found.graph, &interpreter, &labels, writer)
        }
    };
    written.map_err(|error| Failure::file("write", &export.path, &error))?;
    if found.report.stop_reason.is_some() {
        complain(&format!("note: the graph in `{}` is not complete\n", export.path.display()));
    }
    if export.format == ExportFormat::Dot && found.graph.state_count() > SHOWN_STATES {
        let limit = quantity::count(SHOWN_STATES as u64);
        complain(&format!("note: the graph has more than {limit} states; its nodes are only numbered\n"));
    }
    Ok(())
}

fn create(export: &Export) -> Result<File, Failure> {
    File::create(&export.path).map_err(|error| Failure::file("write", &export.path, &error))
}

/// Whether a name is that of a variable shown in states.
fn has_variable(model: &Model, name: &str) -> bool {
    StateShape::new(model.ir(), model.layout()).chosen(&[name.to_owned()], &[]).is_ok()
}

fn unknown_variable(name: &str) -> Failure {
    Failure::Usage(format!("the model has no variable `{name}`; --variables takes the names that `simulate` shows"))
}
