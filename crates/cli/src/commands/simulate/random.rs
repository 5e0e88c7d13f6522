//! A random run: shown step by step, or as JSON at its end.

use std::process::ExitCode;

use quotient_engines::walk;
use quotient_ir::{Diagnostic, Fault, FaultKind, Interpreter, Trace, TraceStep, Valuation, Violation};

use super::candidates::{Consequence, random_start, successors, take_random};
use super::randomness::Randomness;
use crate::arguments::Format;
use crate::failure::{Failure, HOLDS, INCONCLUSIVE, VIOLATED};
use crate::render::json;
use crate::render::quantity;
use crate::render::trace::TraceRenderer;
use crate::terminal::{Palette, Reader, print, print_with, visible};

/// How to run.
pub(super) struct RunOptions {
    /// Where the random choices start.
    pub(super) seed: u64,
    /// How many steps to take at most.
    pub(super) steps: u64,
    /// How to show the run.
    pub(super) format: Format,
}

/// How a run ended.
pub(super) enum RunEnd {
    /// Something is violated.
    Violation(Violation),
    /// A step cannot be followed to its end.
    Exhausted(Fault),
    /// No rule can fire.
    Stuck,
    /// There is no initial state.
    NoStart,
    /// The run is as long as was asked for.
    StepLimit,
    /// Nobody reads on.
    ReaderGone,
}

/// Makes a run and shows it.
pub(super) fn run(
    interpreter: &Interpreter<'_>,
    options: &RunOptions,
    warnings: &[Diagnostic],
) -> Result<ExitCode, Failure> {
    match options.format {
        Format::Human => {
            let renderer = TraceRenderer::new(interpreter.model(), interpreter.layout(), Palette::for_stdout());
            let width = options.steps.to_string().len().max(2);
            let mut number = 0;
            if print(&format!("seed {}\n\n", options.seed))? == Reader::Gone {
                return Ok(ExitCode::from(HOLDS));
            }
            let mut shown: Option<Valuation> = None;
            let end = walk_at_random(interpreter, options, |step| {
                let reader = print(&renderer.step(&number.to_string(), width, step, shown.as_ref()))?;
                if let Some(state) = renderer.shown_state(std::slice::from_ref(step)) {
                    shown = Some(state.clone());
                }
                number += 1;
                Ok(reader)
            })?;
            print(&closing_words(&renderer, &end, options, width))?;
            Ok(ExitCode::from(exit_status(&end)))
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
                RunEnd::StepLimit | RunEnd::ReaderGone => "step-limit",
            };
            let violation = if let RunEnd::Violation(violation) = end { Some(violation) } else { None };
            let trace = Trace::new(steps, violation);
            print_with(|writer| json::simulation(writer, interpreter, options.seed, stop_reason, &trace, warnings))?;
            Ok(ExitCode::from(status))
        }
    }
}

/// Takes random steps and tells `show` of each.
fn walk_at_random(
    interpreter: &Interpreter<'_>,
    options: &RunOptions,
    mut show: impl FnMut(&TraceStep) -> Result<Reader, Failure>,
) -> Result<RunEnd, Failure> {
    let mut randomness = Randomness::new(options.seed);
    let mut before: Option<Valuation> = None;
    for _ in 0..=options.steps {
        let candidate = match &before {
            None => random_start(interpreter, &mut randomness),
            Some(state) => take_random(&mut successors(interpreter, state), &mut randomness),
        };
        let Some(candidate) = candidate else {
            return Ok(if before.is_some() { RunEnd::Stuck } else { RunEnd::NoStart });
        };
        let state = match candidate.consequence {
            Consequence::State(state) => state,
            Consequence::Violation(violation) => return Ok(RunEnd::Violation(violation)),
            Consequence::Exhausted(fault) => return Ok(RunEnd::Exhausted(fault)),
        };
        let step = TraceStep { action: candidate.action, arguments: candidate.arguments, state };
        if show(&step)? == Reader::Gone {
            return Ok(RunEnd::ReaderGone);
        }
        match walk::violated_invariant(interpreter, &step.state) {
            Some(Violation::PropertyFault { fault, .. }) if fault.kind == FaultKind::Exhausted => {
                return Ok(RunEnd::Exhausted(fault));
            }
            Some(violation) => return Ok(RunEnd::Violation(violation)),
            None => before = Some(step.state),
        }
    }
    Ok(RunEnd::StepLimit)
}

fn exit_status(end: &RunEnd) -> u8 {
    match end {
        RunEnd::Violation(_) => VIOLATED,
        RunEnd::Exhausted(_) => INCONCLUSIVE,
        RunEnd::Stuck | RunEnd::NoStart | RunEnd::StepLimit | RunEnd::ReaderGone => HOLDS,
    }
}

fn closing_words(renderer: &TraceRenderer<'_>, end: &RunEnd, options: &RunOptions, width: usize) -> String {
    match end {
        RunEnd::Violation(violation) => format!("\n{}", renderer.violation(violation, width)),
        RunEnd::Exhausted(fault) => format!("\nthe next step cannot be followed: {}\n", visible(&fault.message)),
        RunEnd::Stuck => "\nthe run ends here: no rule can fire\n".into(),
        RunEnd::NoStart => "there is no initial state\n".into(),
        RunEnd::StepLimit => format!("\n{} steps, nothing violated\n", quantity::count(options.steps)),
        RunEnd::ReaderGone => String::new(),
    }
}
