//! How and when the program was invoked. Every JSON object begins with this data, so that a result documents how it was
//! produced. Options are read from the command-line grammar, so that a new one is never forgotten.

use std::time::{Duration, SystemTime};

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Map, Value};

/// The invocation of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Invocation {
    /// The start time, in UTC: `2026-03-01T12:00:00Z`.
    pub(crate) date: String,
    /// The values of `-D` by name.
    pub(crate) definitions: Map<String, Value>,
    /// The other options of the command by their names on the command line, including defaults; options without a value
    /// are omitted.
    pub(crate) options: Map<String, Value>,
}

impl Invocation {
    /// The invocation of a parsed command line.
    pub(crate) fn new(grammar: &clap::Command, matches: &ArgMatches, now: SystemTime) -> Self {
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut invocation = Self { date: utc(since), ..Self::default() };
        let Some((name, matches)) = matches.subcommand() else { return invocation };
        let Some(command) = grammar.find_subcommand(name) else { return invocation };
        for argument in command.get_arguments().filter(|argument| !argument.is_positional()) {
            match argument.get_long() {
                Some(option) => {
                    if let Some(value) = value_of(argument, matches) {
                        invocation.options.insert(option.to_owned(), value);
                    }
                }
                // `-D` is the one option without a long name.
                None => {
                    for text in texts_of(argument, matches) {
                        let (name, value) = text.split_once('=').unwrap_or((&text, ""));
                        invocation.definitions.insert(name.to_owned(), value.trim().into());
                    }
                }
            }
        }
        invocation
    }
}

/// The texts given for an option.
fn texts_of(argument: &Arg, matches: &ArgMatches) -> Vec<String> {
    let raw = matches.get_raw(argument.get_id().as_str()).into_iter().flatten();
    raw.map(|text| text.to_string_lossy().into_owned()).collect()
}

/// The value of an option; none if it was not given and has no default.
fn value_of(argument: &Arg, matches: &ArgMatches) -> Option<Value> {
    let id = argument.get_id().as_str();
    match argument.get_action() {
        ArgAction::SetTrue => Some(matches.get_flag(id).into()),
        ArgAction::Append => Some(texts_of(argument, matches).into()),
        // An option with an optional value may be present without one.
        _ if matches.contains_id(id) => Some(texts_of(argument, matches).pop().map_or(true.into(), Value::from)),
        _ => None,
    }
}

/// A time after the beginning of 1970 in ISO 8601, in UTC.
fn utc(since: Duration) -> String {
    let seconds = since.as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Eras of 400 years that begin in March, so that leap days come last. (Hinnant, days_from_civil.)
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use clap::CommandFactory;

    use super::{Invocation, utc};
    use crate::arguments::Arguments;

    #[test]
    fn dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn options_are_those_of_the_command_line() {
        let line = ["quotient", "check", "-D", "N=3", "-D", "M= 1 + 2", "--threads", "2", "--property", "a", "m.m"];
        let matches = Arguments::command().try_get_matches_from(line).expect("a command line");
        let Invocation { date, definitions, options } =
            Invocation::new(&Arguments::command(), &matches, SystemTime::UNIX_EPOCH);
        assert_eq!(date, "1970-01-01T00:00:00Z");
        assert_eq!(serde_json::to_string(&definitions).expect("an object"), r#"{"M":"1 + 2","N":"3"}"#);
        let value = |name: &str| options.get(name).cloned().unwrap_or_default().to_string();
        assert_eq!(
            ["threads", "property", "cross-check", "symmetry", "max-states"].map(value),
            [r#""2""#, r#"["a"]"#, "false", r#""auto""#, "null"]
        );
    }
}
