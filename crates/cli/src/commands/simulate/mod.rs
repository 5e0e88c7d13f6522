//! `quotient simulate`: one run of the model on the reference interpreter, chosen at random, interactively or read from
//! a file.

mod checked;
mod interactive;
mod random;
mod recorded;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use quotient::walk::{Randomness, RunsOptions, fresh_seed, orbits};
use quotient::{Control, Lowering, RunFile, Subject, TrailFile};
use quotient_ir::{Interpreter, Trace, Violation, replay};

use crate::arguments::{Format, SimulateArguments, SymmetryName};
use crate::commands::{deadlock_mode, load_model_with, load_options, runs, show_notes, show_warnings, symmetry};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::terminal::complain;
use crate::watch::Display;

/// The default length of a random run.
const DEFAULT_STEPS: u64 = 100;

/// Runs the command.
pub(crate) fn run(arguments: &SimulateArguments, invocation: &Invocation) -> Result<ExitCode, Failure> {
    let reads_model_from_stdin = arguments.model.path.as_os_str() == "-";
    if arguments.interactive && reads_model_from_stdin {
        return Err(Failure::Usage("standard input cannot be both the model and your choices".into()));
    }
    let wants_random = arguments.random
        || arguments.seed.is_some()
        || arguments.steps.is_some()
        || arguments.check
        || arguments.format == Format::Json
        || reads_model_from_stdin;
    let is_interactive = arguments.interactive || (!wants_random && io::stdin().is_terminal());
    if !is_interactive && arguments.symmetry.is_some_and(|symmetry| symmetry != SymmetryName::Off) {
        return Err(Failure::Usage("a random run does not use symmetries; they help to choose steps by hand".into()));
    }
    if let Some(destination) = &arguments.run_files.trace_to {
        runs::check_destination(destination)?;
    }
    let control = Control::default();
    let trail = arguments.trail.as_ref().map(TrailFile::load).transpose()?;
    // The same properties are checked as in `check`, and the run of a trail may violate a claim.
    let is_checked = arguments.check || trail.is_some();
    let lowering = if is_checked { Lowering::default() } else { Lowering::for_exploration() };
    let asked = load_options(&arguments.model, lowering);
    let file = arguments.replay.as_ref().map(RunFile::load).transpose()?;
    let loading = file.as_ref().map_or_else(|| Ok(asked.clone()), |file| file.load_options(&asked))?;
    let model = load_model_with(&arguments.model, &loading, &control)?;
    show_warnings(&model);
    let recorded = match (&file, &trail) {
        (Some(file), _) => Some(file.run_of(&model)?),
        (None, Some(trail)) => Some(trail.run_of(&model)?),
        (None, None) => None,
    };
    if let Some(recorded) = &recorded {
        show_notes(&recorded.notes);
    }
    let interpreter = Interpreter::new(model.ir(), model.layout());
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let detail = arguments.run_files.detail();
    let steps = arguments.steps.unwrap_or(DEFAULT_STEPS);
    let (trace, status) = if is_interactive {
        let mut display = Display::new(Format::Human, false);
        let orbits = orbits(&model, symmetry(arguments.symmetry.unwrap_or(SymmetryName::Auto)), &mut display);
        display.clear();
        let trace = recorded.map(|recorded| recorded.trace);
        interactive::run(&interpreter, Randomness::new(seed), orbits?, trace, detail)?
    } else if let Some(recorded) = recorded {
        recorded::run(&model, recorded.trace, arguments.format, detail, invocation)?
    } else if arguments.check {
        let deadlock = arguments.deadlock.map_or_else(|| model.usual_deadlock_mode(), deadlock_mode);
        let options = RunsOptions { seed, runs: arguments.runs.unwrap_or(1), steps, deadlock };
        match checked::run(&model, &interpreter, &options, arguments.format, detail, invocation)? {
            (Some(trace), status) => (trace, status),
            (None, status) => {
                if let Some(destination) = &arguments.run_files.trace_to {
                    complain(&format!("note: there is no run to write to `{}`\n", destination.path.display()));
                }
                return Ok(ExitCode::from(status));
            }
        }
    } else {
        let options = random::RunOptions { seed, steps, format: arguments.format, detail };
        random::run(&model, &interpreter, &options, invocation)?
    };
    if let Some(destination) = &arguments.run_files.trace_to {
        let trace = replayable(&interpreter, trace);
        runs::write(destination, &model, "simulate", subject(&trace), &trace)?;
    }
    Ok(ExitCode::from(status))
}

/// The subject of a run.
fn subject(trace: &Trace) -> Option<Subject> {
    match trace.violation.as_ref()? {
        Violation::Property { property, .. }
        | Violation::Unreachable { property, .. }
        | Violation::Temporal { property, .. } => Some(Subject::Property(*property)),
        Violation::PropertyFault { .. } | Violation::Fault { .. } => Some(Subject::Errors),
        Violation::Deadlock(_) => Some(Subject::Deadlock),
    }
}

/// A run that can be replayed. If it ends because an assumption has no value in the next state, that state is missing
/// and only the steps are kept.
fn replayable(interpreter: &Interpreter<'_>, trace: Trace) -> Trace {
    if trace.violation.is_some() && replay(interpreter, &trace).is_err() {
        return Trace::new(trace.steps, None);
    }
    trace
}
