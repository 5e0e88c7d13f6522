//! Checked random runs: the first violating run is shown as `check` shows a counterexample.

use quotient::Model;
use quotient::walk::{RunsOptions, RunsReport, check_runs};
use quotient_ir::{Interpreter, PropertyKind, Trace};

use crate::arguments::Format;
use crate::failure::{Failure, INCONCLUSIVE, VIOLATED};
use crate::invocation::Invocation;
use crate::render::json;
use crate::render::quantity;
use crate::render::trace::{StateDetail, TraceRenderer};
use crate::terminal::{Palette, print, print_with, visible};
use quotient::names::property_title;
use quotient::shown::violated_subject;

/// Makes the runs and shows the outcome.
pub(super) fn run(
    model: &Model,
    interpreter: &Interpreter<'_>,
    options: &RunsOptions,
    format: Format,
    detail: StateDetail,
    invocation: &Invocation,
) -> Result<(Option<Trace>, u8), Failure> {
    let report = check_runs(interpreter, options);
    match format {
        Format::Human => print(&human(interpreter, options, &report, detail, Palette::for_stdout()))?,
        Format::Json => print_with(|writer| json::checked_runs(writer, options, &report, model, invocation))?,
    };
    let status = if report.violation.is_some() { VIOLATED } else { INCONCLUSIVE };
    Ok((report.violation.map(|run| run.trace), status))
}

fn human(
    interpreter: &Interpreter<'_>,
    options: &RunsOptions,
    report: &RunsReport,
    detail: StateDetail,
    palette: Palette,
) -> String {
    let model = interpreter.model();
    let mut text = match &report.violation {
        Some(run) => {
            let renderer = TraceRenderer::new(model, interpreter.layout(), palette).showing(detail);
            let subject = run.trace.violation.as_ref().map_or_else(String::new, |it| violated_subject(model, it));
            let number = quantity::count(run.number);
            let runs = quantity::count(options.runs);
            format!(
                "{}: {subject}, in run {number} of {runs} (seed {})\n\n{}",
                palette.bad("violated"),
                run.seed,
                renderer.trace(&run.trace)
            )
        }
        None => format!(
            "{}: nothing is violated in {} of up to {} steps (seed {})\n",
            palette.open("inconclusive"),
            counted(report.runs, "run"),
            quantity::count(options.steps),
            options.seed
        ),
    };
    text.push('\n');
    let mut row = |name: &str, value: String| text.push_str(&format!("{name:<11}  {value}\n"));
    row("runs", format!("{}, {}", quantity::count(report.runs), counted(report.steps, "step")));
    let of_kind = |kind| model.properties.iter_enumerated().filter(move |(_, property)| property.kind == kind);
    let unreached: Vec<String> = of_kind(PropertyKind::Cover)
        .filter(|(id, property)| property.formula.condition().is_some() && !report.covered.contains(id))
        .map(|(id, _)| property_title(model, id))
        .collect();
    if !unreached.is_empty() {
        row("not reached", unreached.join(", "));
    }
    let unjudged: Vec<String> =
        of_kind(PropertyKind::AlwaysReachable).map(|(id, _)| property_title(model, id)).collect();
    if !unjudged.is_empty() {
        row("not judged", unjudged.join(", "));
    }
    if let Some((fault, runs)) = &report.exhausted {
        row("broken off", format!("{}: {}", counted(*runs, "run"), visible(&fault.message)));
    }
    text
}

fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", quantity::count(number), if number == 1 { "" } else { "s" })
}
