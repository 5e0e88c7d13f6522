//! The manual page: one page, with the options of each command below it.

use std::io::{self, Write};

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

/// Writes the page.
///
/// # Errors
/// If the writer fails.
pub(crate) fn write(mut command: Command, writer: &mut dyn Write) -> io::Result<()> {
    command.build();
    let manual = Man::new(command.clone()).manual("Quotient");
    manual.render_title(writer)?;
    manual.render_name_section(writer)?;
    let mut page = Roff::new();
    page.control("SH", ["SYNOPSIS"]);
    for subcommand in command.get_subcommands() {
        page.control("TP", [] as [&str; 0]);
        page.text(synopsis(subcommand));
        page.text([roman(subcommand.get_about().map(ToString::to_string).unwrap_or_default())]);
    }
    page.to_writer(writer)?;
    manual.render_description_section(writer)?;

    let mut page = Roff::new();
    page.control("SH", ["COMMANDS"]);
    for subcommand in command.get_subcommands() {
        page.control("SS", [format!("quotient {}", subcommand.get_name()).as_str()]);
        page.text([roman(format!("{}.", subcommand.get_about().map(ToString::to_string).unwrap_or_default()))]);
        for argument in subcommand.get_arguments().filter(|argument| argument.get_id() != "help") {
            describe(&mut page, argument);
        }
        if let Some(words) = subcommand.get_after_help() {
            page.control("PP", [] as [&str; 0]);
            preformatted(&mut page, &words.to_string());
        }
    }
    if let Some(words) = command.get_after_long_help() {
        page.control("SH", ["NOTES"]);
        preformatted(&mut page, &words.to_string());
    }
    page.to_writer(writer)
}

fn synopsis(command: &Command) -> Vec<Inline> {
    let mut line = vec![bold(format!("quotient {}", command.get_name()))];
    if command.get_arguments().any(|argument| !argument.is_positional() && argument.get_id() != "help") {
        line.push(roman(" [OPTIONS]"));
    }
    for argument in command.get_positionals() {
        line.extend([roman(" "), italic(value_name(argument))]);
    }
    line
}

/// An argument with its help and its values.
fn describe(page: &mut Roff, argument: &Arg) {
    let mut head = Vec::new();
    if let Some(short) = argument.get_short() {
        head.push(bold(format!("-{short}")));
    }
    if let Some(long) = argument.get_long() {
        if !head.is_empty() {
            head.push(roman(", "));
        }
        head.push(bold(format!("--{long}")));
    }
    if argument.is_positional() || argument.get_action().takes_values() {
        if !head.is_empty() {
            head.push(roman(" "));
        }
        head.push(italic(value_name(argument)));
    }
    page.control("TP", [] as [&str; 0]);
    page.text(head);
    let mut help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        help.push_str(&format!(" [default: {}]", defaults.join(", ")));
    }
    page.text([roman(help)]);
    let values: Vec<PossibleValue> = argument.get_possible_values();
    if argument.get_action().takes_values() && values.iter().any(|value| value.get_help().is_some()) {
        for value in values {
            page.control("br", [] as [&str; 0]);
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            page.text([bold(value.get_name()), roman(format!(": {help}"))]);
        }
    }
}

fn value_name(argument: &Arg) -> String {
    argument.get_value_names().and_then(<[_]>::first).map_or_else(String::new, ToString::to_string)
}

/// Keeps line breaks; long lines are filled, and indentation is preserved.
fn preformatted(page: &mut Roff, text: &str) {
    for line in text.lines() {
        if line.is_empty() {
            page.control("PP", [] as [&str; 0]);
        } else {
            page.control("br", [] as [&str; 0]);
            page.text([roman(line)]);
        }
    }
}
