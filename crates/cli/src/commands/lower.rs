//! `quotient lower`: the sequential model as Murphi.

use std::process::ExitCode;

use quotient_ir::{PrintOptions, print_murphi};

use crate::arguments::LowerArguments;
use crate::commands::show_warnings;
use crate::failure::{Failure, HOLDS};
use crate::load::load_model;
use crate::terminal::print;

/// Runs the command.
pub(crate) fn run(arguments: &LowerArguments) -> Result<ExitCode, Failure> {
    let loaded = load_model(&arguments.model)?;
    let model = &loaded.model;
    show_warnings(&model.source, &loaded.warnings);
    let text = print_murphi(model, &PrintOptions::default())
        .map_err(|error| Failure::whole_model(model.source.clone(), "cannot-print", error.to_string()))?;
    match &arguments.output {
        Some(path) => std::fs::write(path, text).map_err(|error| Failure::file("write", path, &error))?,
        None => {
            print(&text)?;
        }
    }
    Ok(ExitCode::from(HOLDS))
}
