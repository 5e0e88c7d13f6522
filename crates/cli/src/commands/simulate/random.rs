//! A random run: shown step by step, or as JSON at its end.

use std::ops::ControlFlow;

use quotient::Model;
use quotient::walk::{RunEnd, at_random};
use quotient_ir::{Interpreter, Trace, TraceStep, Valuation, Violation};

use crate::arguments::Format;
use crate::failure::{Failure, HOLDS, INCONCLUSIVE, VIOLATED};
use crate::invocation::Invocation;
use crate::render::json;
use crate::render::quantity;
use crate::render::trace::{StateDetail, StatesBefore, TraceRenderer};
use crate::terminal::{Palette, Reader, print, print_with, visible};

/// How to run.
pub(super) struct RunOptions {
    /// The seed of the random choices.
    pub(super) seed: u64,
    /// The maximum number of steps.
    pub(super) steps: u64,
    /// How to show the run.
    pub(super) format: Format,
    /// How much of the states to show.
    pub(super) detail: StateDetail,
}

/// Makes a run and shows it.
pub(super) fn run(
    model: &Model,
    interpreter: &Interpreter<'_>,
    options: &RunOptions,
    invocation: &Invocation,
) -> Result<(Trace, u8), Failure> {
    match options.format {
        Format::Human => {
            let palette = Palette::for_stdout();
            let renderer =
                TraceRenderer::new(interpreter.model(), interpreter.layout(), palette).showing(options.detail);
            let mut steps: Vec<TraceStep> = Vec::new();
            let width = options.steps.to_string().len().max(2);
            let mut number = 0;
            if print(&format!("seed {}\n\n", options.seed))? == Reader::Gone {
                return Ok((Trace::new(steps, None), HOLDS));
            }
            let mut shown: Option<Valuation> = None;
            let mut last: Option<Valuation> = None;
            let end = walk_at_random(interpreter, options, |step| {
                let before = StatesBefore { shown: shown.as_ref(), previous: steps.last().map(|step| &step.state) };
                let reader = print(&renderer.step(&number.to_string(), width, step, before))?;
                if let Some(state) = renderer.shown_state(std::slice::from_ref(step)) {
                    shown = Some(state.clone());
                }
                last = Some(step.state.clone());
                number += 1;
                steps.push(step.clone());
                Ok(reader)
            })?;
            let last = steps.last().map(|step| &step.state);
            print(&closing_words(&renderer, &end, last, options, width))?;
            print(&renderer.last_state(shown.as_ref()))?;
            let status = exit_status(&end);
            Ok((Trace::new(steps, violation(end)), status))
        }
        Format::Json => {
            let mut steps = Vec::new();
            let end = walk_at_random(interpreter, options, |step| {
                steps.push(step.clone());
                Ok(Reader::Listening)
            })?;
            let status = exit_status(&end);
            let stop_reason = match &end {
                RunEnd::Violation(_) => "violation",
                RunEnd::Exhausted(_) => "exhausted",
                RunEnd::Stuck => "stuck",
                RunEnd::NoStart => "no-start",
                RunEnd::StepLimit | RunEnd::Stopped => "step-limit",
            };
            let trace = Trace::new(steps, violation(end));
            let seed = Some(options.seed);
            print_with(|writer| json::simulation(writer, model, seed, stop_reason, &trace, invocation))?;
            Ok((trace, status))
        }
    }
}

/// The violation at the end of a run.
fn violation(end: RunEnd) -> Option<Violation> {
    if let RunEnd::Violation(violation) = end { Some(violation) } else { None }
}

/// Takes random steps and passes each to `show`, until the reader is gone.
fn walk_at_random(
    interpreter: &Interpreter<'_>,
    options: &RunOptions,
    mut show: impl FnMut(&TraceStep) -> Result<Reader, Failure>,
) -> Result<RunEnd, Failure> {
    let mut failure = None;
    let end = at_random(interpreter, options.seed, options.steps, |step| match show(step) {
        Ok(Reader::Listening) => ControlFlow::Continue(()),
        Ok(Reader::Gone) => ControlFlow::Break(()),
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    });
    failure.map_or(Ok(end), Err)
}

fn exit_status(end: &RunEnd) -> u8 {
    match end {
        RunEnd::Violation(_) => VIOLATED,
        RunEnd::Exhausted(_) => INCONCLUSIVE,
        RunEnd::Stuck | RunEnd::NoStart | RunEnd::StepLimit | RunEnd::Stopped => HOLDS,
    }
}

fn closing_words(
    renderer: &TraceRenderer<'_>,
    end: &RunEnd,
    last: Option<&Valuation>,
    options: &RunOptions,
    width: usize,
) -> String {
    match end {
        RunEnd::Violation(violation) => format!("\n{}", renderer.violation(violation, last, width)),
        RunEnd::Exhausted(fault) => format!("\nthe next step cannot be followed: {}\n", visible(&fault.message)),
        RunEnd::Stuck => format!("\nthe run ends here: {}\n", renderer.stuck()),
        RunEnd::NoStart => "there is no initial state\n".into(),
        RunEnd::StepLimit => format!("\n{} steps, nothing violated\n", quantity::count(options.steps)),
        RunEnd::Stopped => String::new(),
    }
}
