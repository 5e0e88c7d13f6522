//! `quotient simulate`: one run of the model, chosen at random or by hand, on the reference
//! interpreter.

mod candidates;
mod interactive;
mod random;
mod randomness;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use quotient_ir::Interpreter;

use crate::arguments::{Format, SimulateArguments};
use crate::commands::show_warnings;
use crate::failure::Failure;
use crate::load::load_model;
use randomness::Randomness;

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
    let loaded = load_model(&arguments.model)?;
    show_warnings(&loaded.model.source, &loaded.warnings);
    let interpreter = Interpreter::new(&loaded.model, &loaded.layout);
    let seed = arguments.seed.unwrap_or_else(randomness::fresh_seed);
    if is_interactive {
        return interactive::run(&interpreter, Randomness::new(seed));
    }
    let options =
        random::RunOptions { seed, steps: arguments.steps.unwrap_or(DEFAULT_STEPS), format: arguments.format };
    random::run(&interpreter, &options, &loaded.warnings)
}
