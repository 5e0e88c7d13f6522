//! `quotient check`: searches, checks every property, shows the result.

use std::process::ExitCode;

use quotient::{
    Checkpoint, Control, FairnessMode, Language, LoadOptions, Lowering, Model, Options, PartialOrder, Plan, Report,
    Spill, StoreMode, Subject as About, USUAL_BITSTATE_BYTES, ViolationLimit, shown,
};
use quotient_explorer::{Found, Subject, Task};
use quotient_ir::Trace;

use crate::arguments::{CheckArguments, CheckFormat, FairnessName, PartialOrderName, StoreName};
use crate::commands::{
    deadlock_mode, engine, every, exit_status, limits, load_model_with, load_options, order, reduction, runs, serve,
    show_notes, show_warnings, symmetry, workers,
};
use crate::failure::{Failure, INCONCLUSIVE};
use crate::invocation::Invocation;
use crate::render::human::Outcome;
use crate::render::{human, json, junit, page, sarif, sequence_chart};
use crate::terminal::{Palette, complain, print, print_with};
use crate::watch::{Display, cancel_on_interrupt};

/// Runs the command.
pub(crate) fn run(arguments: &CheckArguments, invocation: &Invocation) -> Result<ExitCode, Failure> {
    let options = options(arguments)?;
    let control = Control::start(&options.limits);
    cancel_on_interrupt(&control);
    check(arguments, invocation, &options, &control, Hooks { loaded: &mut |_| {}, is_stale: &|| false })
}

/// What else is done along a check.
pub(super) struct Hooks<'a> {
    /// The model has been read.
    pub(super) loaded: &'a mut dyn FnMut(&Model),
    /// Whether nobody wants to know the result any more.
    pub(super) is_stale: &'a dyn Fn() -> bool,
}

/// Checks a model, and shows the result.
pub(super) fn check(
    arguments: &CheckArguments,
    invocation: &Invocation,
    options: &Options,
    control: &Control,
    hooks: Hooks<'_>,
) -> Result<ExitCode, Failure> {
    let lowering = match arguments.page.serve {
        true => Lowering::with_all_steps(options),
        false => Lowering::for_check(options),
    };
    let loading = LoadOptions {
        constraint: arguments.constraint.clone(),
        invariants: arguments.invariant.clone(),
        reach: arguments.reach.clone(),
        ltl: arguments.ltl.clone(),
        ctl: arguments.ctl.clone(),
        ..load_options(&arguments.model, lowering)
    };
    let model = load_model_with(&arguments.model, &loading, control)?;
    (hooks.loaded)(&model);
    if let Some(destination) = &arguments.run_files.trace_to {
        runs::check_destination(destination)?;
    }
    if arguments.msc.is_some() && !matches!(model.language(), Some(Language::Promela | Language::Csp)) {
        return Err(Failure::Usage("--msc draws runs of Promela and CSP# models".into()));
    }
    if !arguments.every.is_empty() {
        return every::run(arguments, invocation, &model, options, control);
    }
    let plan = Plan::new(&model, options)?;
    show_warnings(plan.model());
    let is_first = options.workers.as_ref().is_none_or(|membership| membership.process == 0);
    if arguments.page.serve {
        if options.workers.is_some() {
            return Err(Failure::Usage("--serve is for a search on this machine: --workers is used without it".into()));
        }
        return serve_page(arguments, invocation, model, plan, control);
    }
    let mut display = Display::new(arguments.output.format, arguments.output.no_progress);
    let report = plan.run_with(control, &mut display);
    display.clear();
    let report = report?;
    if (hooks.is_stale)() {
        return Ok(ExitCode::from(INCONCLUSIVE));
    }
    let status = exit_status(report.verdict);
    if !is_first {
        // The first process says it for all.
        return Ok(ExitCode::from(status));
    }
    show_notes(&report.notes);
    let model = plan.model();
    draw(arguments, model, &report)?;
    if let Some(destination) = &arguments.run_files.trace_to {
        match first_run(&report) {
            Some((subject, trace)) => runs::write(destination, model, "check", subject, trace)?,
            None => complain(&format!("note: there is no run to write to `{}`\n", destination.path.display())),
        }
    }
    let detail = arguments.run_files.detail();
    let outcome = Outcome { model, report: &report, counts: None, detail };
    if let Some(path) = &arguments.report {
        std::fs::write(path, page::page(&outcome, invocation)).map_err(|error| Failure::file("write", path, &error))?;
    }
    match arguments.output.format {
        CheckFormat::Human => print(&human::check(&outcome, Palette::for_stdout()))?,
        CheckFormat::Junit => print(&junit::check(&outcome, invocation))?,
        CheckFormat::Sarif => print_with(|writer| sarif::check(writer, &outcome, status, invocation))?,
        CheckFormat::Json => print_with(|writer| json::search(writer, "check", &outcome, invocation))?,
    };
    Ok(ExitCode::from(status))
}

/// Serves a page about the check.
fn serve_page(
    arguments: &CheckArguments,
    invocation: &Invocation,
    model: Model,
    plan: Plan,
    control: &Control,
) -> Result<ExitCode, Failure> {
    if arguments.msc.is_some() || arguments.report.is_some() || arguments.run_files.trace_to.is_some() {
        return Err(Failure::Usage("--serve writes no files: runs are saved on the page".into()));
    }
    let (own, searched) = (model.clone(), plan.model().clone());
    let (invocation, detail) = (invocation.clone(), arguments.run_files.detail());
    let task: Task = Box::new(move |control, observer| {
        let report = plan.run_with(control, observer)?;
        let shown = plan.report_on(&own, &report, control)?;
        let outcome = Outcome { model: plan.model(), report: &report, counts: None, detail };
        let json = json::text(|writer| json::search(writer, "check", &outcome, &invocation));
        Ok(Found { report, shown, json })
    });
    let symmetry = symmetry(arguments.symmetry);
    serve::run(&arguments.page, Subject { model, searched, command: "check", symmetry, task }, control)
}

/// The options that the command line specifies.
pub(super) fn options(arguments: &CheckArguments) -> Result<Options, Failure> {
    let store = match (arguments.store, arguments.bitstate_size) {
        (StoreName::Exact | StoreName::Dense | StoreName::Compact, Some(_)) => {
            return Err(Failure::Usage("--bitstate-size is for --store bitstate".into()));
        }
        (StoreName::Exact, None) => StoreMode::Exact,
        (StoreName::Dense, None) => StoreMode::Dense,
        (StoreName::Compact, None) => StoreMode::Compact,
        (StoreName::Bitstate, bytes) => StoreMode::Bitstate { bytes: bytes.unwrap_or(USUAL_BITSTATE_BYTES) },
    };
    let checkpoints = &arguments.checkpoints;
    let checkpoint = checkpoints.checkpoint.clone();
    let spill = arguments.spilling.spill.clone();
    Ok(Options {
        engine: engine(arguments.engine),
        symmetry: symmetry(arguments.symmetry),
        reduction: reduction(arguments.search.reduction),
        properties: arguments.properties.clone(),
        deadlock: arguments.deadlock.map(deadlock_mode),
        violations: match arguments.max_errors {
            _ if arguments.all_errors => ViolationLimit::All,
            Some(most) => ViolationLimit::Kinds(most),
            None => ViolationLimit::First,
        },
        order: order(arguments.search.search),
        threads: arguments.search.threads,
        fairness: match arguments.fairness {
            FairnessName::None => FairnessMode::None,
            FairnessName::Weak => FairnessMode::Weak,
            FairnessName::Strong => FairnessMode::Strong,
            FairnessName::WeakEvent => FairnessMode::WeakEvent,
            FairnessName::StrongEvent => FairnessMode::StrongEvent,
            FairnessName::WeakProcess => FairnessMode::WeakProcess,
            FairnessName::StrongProcess => FairnessMode::StrongProcess,
            FairnessName::Global => FairnessMode::Global,
        },
        store,
        store_passing: arguments.search.store_passing,
        spill: spill.map(|folder| Spill { folder, max_bytes: arguments.spilling.max_disk }),
        checkpoint: checkpoint.map(|path| Checkpoint { path, every: checkpoints.checkpoint_every }),
        resume: checkpoints.resume.clone(),
        cross_check: arguments.cross_check,
        statistics: arguments.statistics,
        partial_order: match arguments.partial_order {
            PartialOrderName::Auto => PartialOrder::Auto,
            PartialOrderName::On => PartialOrder::On,
            PartialOrderName::Off => PartialOrder::Off,
        },
        exact_counts: arguments.exact_counts,
        exact_order: arguments.exact_order,
        cover_runs: arguments.cover_runs,
        workers: workers::membership(&arguments.workers)?,
        limits: limits(&arguments.limits),
    })
}

/// The counterexample of the first violation with its subject, or the run to the run-time error that ended the search.
fn first_run(report: &Report) -> Option<(Option<About>, &Trace)> {
    let mut violations = report.properties.iter();
    let violation = violations.find_map(|property| Some((Some(property.subject), property.trace.as_ref()?)));
    violation.or(report.fault.as_ref().map(|trace| (None, trace)))
}

/// Draws the counterexample of the first violation, or the run to the run-time error that ended the search, if
/// requested.
fn draw(arguments: &CheckArguments, model: &Model, report: &Report) -> Result<(), Failure> {
    if let (Some(path), Some((_, trace))) = (&arguments.msc, first_run(report)) {
        let chart = shown::sequence_chart(model.ir(), model.layout(), trace).unwrap_or_default();
        let chart = sequence_chart::draw(&chart, trace.steps.len());
        std::fs::write(path, chart).map_err(|error| Failure::file("write", path, &error))?;
    }
    Ok(())
}
