//! `quotient simulate`: one run of the model, chosen at random or by hand, on the reference
//! interpreter.

mod candidates;
mod interactive;
mod orbits;
mod random;
mod randomness;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use quotient_engines::Plan;
use quotient_ir::Interpreter;

use crate::arguments::{Format, OutputArguments, ReductionName, SimulateArguments, SymmetryName};
use crate::commands::{reduction, show_warnings};
use crate::failure::Failure;
use crate::load::{LoadedModel, load_model};
use crate::watch::Watch;
use orbits::Orbits;
use randomness::Randomness;

/// The length of a random run, unless told otherwise.
const DEFAULT_STEPS: u64 = 100;

/// How long somebody who wants to choose steps waits for symmetries.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let loaded = Arc::new(load_model(&arguments.model)?);
    show_warnings(&loaded.model.source, &loaded.warnings);
    let interpreter = Interpreter::new(&loaded.model, &loaded.layout);
    let seed = arguments.seed.unwrap_or_else(randomness::fresh_seed);
    if is_interactive {
        let symmetry = arguments.symmetry.unwrap_or(SymmetryName::Auto);
        let plan = find_symmetries(&loaded, symmetry)?;
        let orbits = plan.and_then(|plan| plan.reduction).map(|reduction| Orbits::new(&loaded.layout, reduction));
        return interactive::run(&interpreter, Randomness::new(seed), orbits);
    }
    let options =
        random::RunOptions { seed, steps: arguments.steps.unwrap_or(DEFAULT_STEPS), format: arguments.format };
    random::run(&interpreter, &options, &loaded.warnings)
}

/// The symmetries that help to choose steps, if they are found soon.
fn find_symmetries(loaded: &Arc<LoadedModel>, symmetry: SymmetryName) -> Result<Option<Plan>, Failure> {
    let output = OutputArguments { format: Format::Human, no_progress: false };
    let watch = Watch::start_without_interrupts(PATIENCE, &output);
    let properties = reduction::checked_properties(loaded, None);
    let symmetries = reduction::choose(loaded, (symmetry, ReductionName::Auto), properties, &watch, None)?.made();
    watch.finish();
    Ok(symmetries.and_then(|symmetries| symmetries.plan))
}
