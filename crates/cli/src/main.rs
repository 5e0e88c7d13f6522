//! The binary `quotient`: arguments, progress, rendering. Everything about models is done by the
//! libraries.

mod arguments;
mod commands;
mod failure;
mod graph;
mod load;
mod memory;
mod names;
mod render;
mod terminal;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Arguments, Command, Format};
use failure::{Failure, HOLDS, WRONG_USAGE};
use quotient_ir::{Diagnostic, Source, Span};
use render::{diagnostics, json};
use terminal::{Palette, complain, print, print_with};

fn main() -> ExitCode {
    run()
}

fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way, too. Nobody is left to tell if this fails.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { WRONG_USAGE } else { HOLDS });
        }
    };
    let (name, format) = match &arguments.command {
        Command::Check(check) => ("check", check.output.format),
        Command::Detect(detect) => ("detect", detect.format),
        Command::Explore(explore) => ("explore", explore.output.format),
        Command::Simulate(simulate) => ("simulate", simulate.format),
        Command::Lower(_) => ("lower", Format::Human),
        Command::Completions { .. } | Command::Man => ("", Format::Human),
    };
    let result = match &arguments.command {
        Command::Check(check) => commands::check::run(check),
        Command::Detect(detect) => commands::detect::run(detect),
        Command::Explore(explore) => commands::explore::run(explore),
        Command::Simulate(simulate) => commands::simulate::run(simulate),
        Command::Lower(lower) => commands::lower::run(lower),
        Command::Completions { shell } => print_completions(*shell),
        Command::Man => print_manual(),
    };
    result.unwrap_or_else(|failure| {
        report(&failure, name, format);
        failure.exit_code()
    })
}

/// Says why there is no result: to people on standard error and, if JSON is asked for and it is
/// about the model, on standard output as well.
fn report(failure: &Failure, command: &'static str, format: Format) {
    let palette = Palette::for_stderr();
    let (source, diagnostics) = match failure {
        Failure::Usage(message) => {
            complain(&format!("{}: {message}\n", palette.bad("error")));
            return;
        }
        Failure::Model { source, diagnostics } => {
            complain(&diagnostics::render(source, diagnostics, palette));
            (source, diagnostics)
        }
        Failure::Internal(message) => {
            let advice = "This is a defect of quotient; please report it.";
            complain(&format!("{}: {message}\n{advice}\n", palette.bad("error")));
            let diagnostic = Diagnostic { primary: None, ..Diagnostic::error("internal", message, Span::default()) };
            (&Source::new("", ""), &vec![diagnostic])
        }
    };
    if format == Format::Json {
        // The failure itself decides the exit status, whether or not it could be written.
        let _ = print_with(|writer| json::failure(writer, command, source, diagnostics));
    }
}

fn print_completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "quotient", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::from(HOLDS))
}

fn print_manual() -> Result<ExitCode, Failure> {
    let mut page = Vec::new();
    render::manual::write(Arguments::command(), &mut page)?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::from(HOLDS))
}
