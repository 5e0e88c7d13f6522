//! Transcripts that are data: a folder of `tests/transcripts` for each command or subject. A file has a remark (`# …`), and
//! commands (`$ quotient …`, run among the test models) with what the program says to each, times and sizes masked.
//! `SNAPSHOTS=overwrite` writes down what it says now.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::data::DataFormat;
use snapbox::{Assert, Data, IntoData};

use crate::transcript::quotient;

const COMMAND: &str = "$ quotient ";

macro_rules! folders {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            compare(stringify!($name));
        })*

        #[test]
        fn every_folder_is_run() {
            let found = sorted(&folder());
            let run = [$(stringify!($name)),*];
            assert_eq!(found, run.map(|name| folder().join(name)));
        }
    };
}

folders! { b_properties check detect explore failures family promela simulate symmetry usage }

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// What is in a folder, in order.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Runs all files of a folder; every one that differs is shown, not only the first.
fn compare(name: &str) {
    let files = sorted(&folder().join(name));
    assert!(!files.is_empty(), "no transcripts in {name}");
    let assert = Assert::new().action_env(DEFAULT_ACTION_ENV);
    let mut differences = String::new();
    for file in files {
        let expected = std::fs::read_to_string(&file).expect("a transcript is UTF-8");
        let said = run(&expected).into_data();
        let recorded = Data::read_from(&file, Some(DataFormat::Text)).raw();
        if let Err(difference) = assert.try_eq(Some(&file.display()), said, recorded) {
            writeln!(differences, "{difference}").expect("strings can be written");
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// The transcript with what the program says now.
fn run(transcript: &str) -> String {
    let mut lines = transcript.lines().peekable();
    let mut said = String::new();
    while let Some(line) = lines.next_if(|line| !line.starts_with(COMMAND)) {
        assert!(line.is_empty() || line.starts_with("# "), "neither a remark nor a command: {line}");
        writeln!(said, "{line}").expect("strings can be written");
    }
    let mut commands = 0;
    for line in lines.filter(|line| line.starts_with(COMMAND)) {
        let separator = if commands == 0 { "" } else { "\n" };
        write!(said, "{separator}{line}\n{}", quotient(words(&line[COMMAND.len()..]))).expect("strings can be written");
        commands += 1;
    }
    assert!(commands > 0, "a transcript without a command");
    said
}

/// The words of a command line, some of them between quotation marks of either sort. A shell would do no more.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'));
        let (word, after) = match quote {
            Some(quote) => rest[1..].split_once(quote).expect("a quotation mark is closed"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}
