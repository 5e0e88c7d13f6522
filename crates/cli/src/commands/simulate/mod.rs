//! `quotient simulate`: one run of the model, chosen at random or by hand, on the reference
//! interpreter.

mod checked;
mod interactive;
mod random;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use quotient::Control;
use quotient::walk::{Randomness, RunsOptions, fresh_seed, orbits};
use quotient_ir::Interpreter;

use crate::arguments::{Format, SimulateArguments, SymmetryName};
use crate::commands::{Claims, deadlock_mode, load_model, show_warnings, symmetry};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::watch::Display;

/// The length of a random run, unless told otherwise.
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
    // What is checked is what `check` checks.
    let claims = if arguments.check { Claims::Watched } else { Claims::Ignored };
    let model = load_model(&arguments.model, claims, &Control::default())?;
    show_warnings(&model);
    let interpreter = Interpreter::new(model.ir(), model.layout());
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    if is_interactive {
        let mut display = Display::new(Format::Human, false);
        let orbits = orbits(&model, symmetry(arguments.symmetry.unwrap_or(SymmetryName::Auto)), &mut display);
        display.clear();
        return interactive::run(&interpreter, Randomness::new(seed), orbits?);
    }
    let steps = arguments.steps.unwrap_or(DEFAULT_STEPS);
    if arguments.check {
        let deadlock = arguments.deadlock.map_or_else(|| model.usual_deadlock_mode(), deadlock_mode);
        let options = RunsOptions { seed, runs: arguments.runs.unwrap_or(1), steps, deadlock };
        return checked::run(&model, &interpreter, &options, arguments.format, invocation);
    }
    let options = random::RunOptions { seed, steps, format: arguments.format };
    random::run(&model, &interpreter, &options, invocation)
}
