//! `quotient lower`: the sequential model as Murphi.

use std::process::ExitCode;

use quotient::{Control, Lowering};
use quotient_ir::{PrintOptions, print_murphi};

use crate::arguments::LowerArguments;
use crate::commands::{load_model, show_warnings, whole_model};
use crate::failure::{Failure, HOLDS};
use crate::terminal::print;

/// Runs the command.
pub(crate) fn run(arguments: &LowerArguments) -> Result<ExitCode, Failure> {
    let model = load_model(&arguments.model, Lowering::for_exploration(), &Control::default())?;
    show_warnings(&model);
    let options = PrintOptions { extensions: !arguments.no_extensions, ..PrintOptions::default() };
    let text = print_murphi(model.ir(), &options)
        .map_err(|error| whole_model(model.source(), "cannot-print", error.to_string()))?;
    match &arguments.output {
        Some(path) => std::fs::write(path, text).map_err(|error| Failure::file("write", path, &error))?,
        None => {
            print(&text)?;
        }
    }
    Ok(ExitCode::from(HOLDS))
}
