//! `quotient check --every`: a claim about all values of constants.

use std::process::ExitCode;

use quotient::{Control, Every, EveryMethod, Model, Options};

use super::{exit_status, show_warnings};
use crate::arguments::{CheckArguments, CheckFormat, EveryMethodName};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render::every;
use crate::terminal::{Palette, print, print_with};
use crate::watch::Display;

/// Runs the command.
pub(super) fn run(
    arguments: &CheckArguments,
    invocation: &Invocation,
    model: &Model,
    options: &Options,
    control: &Control,
) -> Result<ExitCode, Failure> {
    let unusable: [(bool, &str); 6] = [
        (arguments.page.serve, "--serve"),
        (arguments.msc.is_some(), "--msc"),
        (arguments.report.is_some(), "--report"),
        (arguments.run_files.trace_to.is_some(), "--trace-to: check the model with the values that it names"),
        (arguments.output.format == CheckFormat::Junit, "--format junit"),
        (arguments.output.format == CheckFormat::Sarif, "--format sarif"),
    ];
    if let Some((_, what)) = unusable.into_iter().find(|(applies, _)| *applies) {
        return Err(Failure::Usage(format!("--every cannot be used with {what}")));
    }
    let method = match arguments.every_method {
        EveryMethodName::Auto => EveryMethod::Auto,
        EveryMethodName::Views => EveryMethod::Views,
        EveryMethodName::Backward => EveryMethod::Backward,
        EveryMethodName::Cutoff => EveryMethod::CutOff,
    };
    let claim = &Every { sizes: arguments.every.clone(), method };
    show_warnings(model);
    let mut display = Display::new(arguments.output.format, arguments.output.no_progress);
    let report = quotient::every(model, claim, options, control, &mut display);
    display.clear();
    let report = report?;
    match arguments.output.format {
        CheckFormat::Json => print_with(|writer| every::json(writer, model, &report, invocation))?,
        _ => print(&every::human(model, &report, arguments.run_files.detail(), Palette::for_stdout()))?,
    };
    Ok(ExitCode::from(exit_status(report.verdict)))
}
