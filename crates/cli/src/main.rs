//! The binary `quotient`: arguments, progress, rendering. Everything about models is in the library of the same name.
//!
//! `arguments` is the grammar of the command line; `commands` has a file for each command, from arguments to options,
//! a call of the library, and output; `render` shows results as text, JSON, JUnit, SARIF and HTML. `watch` shows
//! progress and cancels on an interrupt, `failure` has the exit statuses, `invocation` what every JSON object says
//! about its origin.

mod arguments;
mod commands;
mod failure;
mod graph;
mod invocation;
mod render;
mod terminal;
mod watch;

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use quotient::{Error, Language, defect};

use arguments::{Arguments, CheckFormat, Command};
use failure::{Failure, HOLDS, WRONG_USAGE};
use invocation::Invocation;
use quotient_ir::{Diagnostic, Source, Span};
use render::header::Header;
use render::{diagnostics, human, json, junit, sarif};
use terminal::{Palette, complain, print, print_with};

fn main() -> ExitCode {
    defect::record_panics();
    let grammar = Arguments::command();
    let parsed = grammar.clone().try_get_matches().and_then(|matches| {
        let arguments = Arguments::from_arg_matches(&matches)?;
        Ok((arguments, Invocation::new(&grammar, &matches, SystemTime::now())))
    });
    let (arguments, invocation) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return explain(error),
    };
    // A panic is never a verdict: this catches all of them.
    let result =
        defect::catch(|| run(&arguments, &invocation)).unwrap_or_else(|defect| Err(Error::from(defect).into()));
    result.unwrap_or_else(|failure| {
        report(&failure, circumstances(&arguments.command), &invocation);
        failure.exit_code()
    })
}

/// Reports a command-line error, or prints what was requested: help and version arrive here, too.
fn explain(error: clap::Error) -> ExitCode {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && (Path::new(word).is_file() || Language::from_file_name(word).is_some())
    {
        let advice = format!("To check the model: quotient check {word}\nFor everything else: quotient help");
        complain(&format!("{}: `{word}` is not a command\n\n{advice}\n", Palette::for_stderr().bad("error")));
        return ExitCode::from(WRONG_USAGE);
    }
    let error = match error.kind() {
        ErrorKind::DisplayHelp => Arguments::described().try_get_matches().err().unwrap_or(error),
        _ => error,
    };
    // There is no one left to tell if this fails.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { WRONG_USAGE } else { HOLDS })
}

fn run(arguments: &Arguments, invocation: &Invocation) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Check(check) => commands::check::run(check, invocation),
        Command::Watch(watch) => commands::watch::run(watch, invocation),
        Command::Detect(detect) => commands::detect::run(detect, invocation),
        Command::Verify(verify) => commands::verify::run(verify, invocation),
        Command::Explore(explore) => commands::explore::run(explore, invocation),
        Command::Simulate(simulate) => commands::simulate::run(simulate, invocation),
        Command::Lower(lower) => commands::lower::run(lower),
        Command::LanguageServer { .. } => commands::language_server::run(),
        Command::Completions { shell } => print_completions(*shell),
        Command::Man => print_manual(),
    }
}

/// The name of a command, its output format, and its model.
type Circumstances<'a> = (&'static str, CheckFormat, Option<&'a Path>);

fn circumstances(command: &Command) -> Circumstances<'_> {
    match command {
        Command::Watch(watch) => ("check", watch.output.format, Some(&watch.model.path)),
        Command::Check(check) => ("check", check.output.format, Some(&check.model.path)),
        Command::Detect(detect) => ("detect", detect.format.into(), detect.model.path.as_deref()),
        Command::Verify(verify) => ("verify", verify.format.into(), Some(&verify.path)),
        Command::Explore(explore) => ("explore", explore.output.format.into(), Some(&explore.model.path)),
        Command::Simulate(simulate) => ("simulate", simulate.format.into(), Some(&simulate.model.path)),
        Command::Lower(lower) => ("lower", CheckFormat::Human, Some(&lower.model.path)),
        Command::LanguageServer { .. } | Command::Completions { .. } | Command::Man => ("", CheckFormat::Human, None),
    }
}

/// Reports why there is no result: on standard error for human readers and, with JSON, on standard output as well.
fn report(failure: &Failure, (name, format, model): Circumstances<'_>, invocation: &Invocation) {
    let header = Header::without_model(name, model, invocation);
    let palette = Palette::for_stderr();
    // A one-line message without a location.
    let remark = |code, message: &str| {
        complain(&format!("{}: {message}\n", palette.bad("error")));
        vec![Diagnostic { primary: None, ..Diagnostic::error(code, message, Span::default()) }]
    };
    let model = model.map(|path| path.display().to_string()).unwrap_or_default();
    let (source, diagnostics) = match failure {
        Failure::Usage(message) => (&Source::new(model, ""), &remark("usage", message)),
        Failure::Library(error @ Error::Refused(_)) => {
            (&Source::new(model, ""), &remark("refused", &error.to_string()))
        }
        Failure::Library(Error::File { path, message }) => {
            (&Source::new(path, ""), &remark("unreadable-file", message))
        }
        Failure::Library(Error::Stopped(reason)) => {
            // The exit status conveys the same, whether or not this could be written.
            match format {
                CheckFormat::Human => {
                    let _ = print(&human::stopped(reason, Palette::for_stdout()));
                    return;
                }
                CheckFormat::Json => {
                    let _ = print_with(|writer| json::stopped(writer, header, reason));
                    return;
                }
                CheckFormat::Junit | CheckFormat::Sarif => {
                    (&Source::new(model, ""), &remark("stopped", &human::stop_text(reason)))
                }
            }
        }
        Failure::Library(Error::Lost { message, checkpoint }) => {
            let advice = match checkpoint {
                Some(folder) => format!(
                    "; to resume from the last level that all workers have saved, start every process again, this one by\n  {}",
                    commands::workers::resume_command(folder)
                ),
                None => "; nothing was saved, since --checkpoint was not given".to_owned(),
            };
            (&Source::new(model, ""), &remark("lost", &format!("{message}{advice}")))
        }
        Failure::Library(Error::Model(invalid)) => {
            complain(&diagnostics::render(&invalid.source, &invalid.diagnostics, palette));
            (&invalid.source, &invalid.diagnostics)
        }
        Failure::Library(Error::Internal(defect)) => {
            let about = if model.is_empty() { String::new() } else { format!("The model is `{model}`. ") };
            let advice = "This is a defect of quotient, not of the model; please report it.";
            complain(&format!("{}: {defect}\n{about}{advice}\n", palette.bad("error")));
            let diagnostic =
                Diagnostic { primary: None, ..Diagnostic::error("internal", defect.to_string(), Span::default()) };
            (&Source::new(model, ""), &vec![diagnostic])
        }
    };
    // The failure itself determines the exit status, whether or not it could be written.
    let _ = match format {
        CheckFormat::Human => return,
        CheckFormat::Json => print_with(|writer| json::failure(writer, header, source, diagnostics)),
        CheckFormat::Junit => print(&junit::failure(source, diagnostics, invocation)),
        CheckFormat::Sarif => {
            print_with(|writer| sarif::failure(writer, source, diagnostics, failure.exit_status(), invocation))
        }
    };
}

fn print_completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::described(), "quotient", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::from(HOLDS))
}

fn print_manual() -> Result<ExitCode, Failure> {
    let mut page = Vec::new();
    render::manual::write(Arguments::described(), &mut page)?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::from(HOLDS))
}
