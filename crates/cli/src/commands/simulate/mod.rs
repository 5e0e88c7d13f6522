//! `quotient simulate`: one run of the model, chosen at random or by hand or read from a file, on the reference
//! interpreter.

mod interactive;
mod random;
mod recorded;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use quotient::walk::{Randomness, fresh_seed, orbits};
use quotient::{Control, RunFile, Subject, TrailFile};
use quotient_ir::{Interpreter, Trace, Violation, replay};

use crate::arguments::{Format, OutputArguments, SimulateArguments, SymmetryName};
use crate::commands::{Claims, load_model_with, load_options, runs, show_notes, show_warnings, symmetry};
use crate::failure::Failure;
use crate::watch::Display;

/// The length of a random run, unless told otherwise.
const DEFAULT_STEPS: u64 = 100;

/// Runs the command.
pub(crate) fn run(arguments: &SimulateArguments) -> Result<ExitCode, Failure> {
    let reads_model_from_stdin = arguments.model.path.as_os_str() == "-";
    if arguments.interactive && reads_model_from_stdin {
        return Err(Failure::Usage("standard input cannot be both the model and your choices".into()));
    }
    let wants_random = arguments.random
        || arguments.seed.is_some()
        || arguments.steps.is_some()
        || arguments.format == Format::Json
        || reads_model_from_stdin;
    let is_interactive = arguments.interactive || (!wants_random && io::stdin().is_terminal());
    if !is_interactive && arguments.symmetry.is_some_and(|symmetry| symmetry != SymmetryName::Off) {
        return Err(Failure::Usage("a random run does not use symmetries; they help to choose steps by hand".into()));
    }
    if let Some(destination) = &arguments.runs.trace_to {
        runs::check_destination(destination)?;
    }
    let control = Control::default();
    let trail = arguments.trail.as_ref().map(TrailFile::load).transpose()?;
    // The run of a trail may be one that violates a claim.
    let claims = if trail.is_some() { Claims::Watched } else { Claims::Ignored };
    let asked = load_options(&arguments.model, claims);
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
    let detail = arguments.runs.detail();
    let (trace, status) = if is_interactive {
        let mut display = Display::new(&OutputArguments { format: Format::Human, no_progress: false });
        let orbits = orbits(&model, symmetry(arguments.symmetry.unwrap_or(SymmetryName::Auto)), &mut display);
        display.clear();
        let trace = recorded.map(|recorded| recorded.trace);
        interactive::run(&interpreter, Randomness::new(seed), orbits?, trace, detail)?
    } else if let Some(recorded) = recorded {
        recorded::run(&interpreter, recorded.trace, arguments.format, detail, model.warnings())?
    } else {
        let steps = arguments.steps.unwrap_or(DEFAULT_STEPS);
        let options = random::RunOptions { seed, steps, format: arguments.format, detail };
        random::run(&interpreter, &options, model.warnings())?
    };
    if let Some(destination) = &arguments.runs.trace_to {
        let trace = replayable(&interpreter, trace);
        runs::write(destination, &model, &loading, "simulate", subject(&trace), &trace)?;
    }
    Ok(ExitCode::from(status))
}

/// What a run is about.
fn subject(trace: &Trace) -> Option<Subject> {
    match trace.violation.as_ref()? {
        Violation::Property { property, .. } | Violation::Unreachable { property, .. } => {
            Some(Subject::Property(*property))
        }
        Violation::PropertyFault { .. } | Violation::Fault { .. } => Some(Subject::Errors),
        Violation::Deadlock(_) => Some(Subject::Deadlock),
    }
}

/// A run that can be replayed. One that ends because an assumption has no value in the next state does not have that
/// state, and only its steps are kept.
fn replayable(interpreter: &Interpreter<'_>, trace: Trace) -> Trace {
    if trace.violation.is_some() && replay(interpreter, &trace).is_err() {
        return Trace::new(trace.steps, None);
    }
    trace
}
