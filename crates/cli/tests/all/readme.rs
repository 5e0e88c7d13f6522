//! The transcripts of the README are what the program says. `…` stands for anything in a line, and alone for any
//! number of lines.

use std::path::Path;
use std::process::Command;

/// What a command begins with in the README.
const PROMPT: &str = "cargo run --release -- ";

/// Runs the program in the folder of the workspace.
fn run(arguments: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(arguments.split_whitespace())
        .current_dir(workspace())
        .output()
        .expect("the program starts");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("this crate lies two folders below the workspace")
}

/// Whether a line fits one of the README.
fn fits(line: &str, expected: &str) -> bool {
    let mut rest = line;
    for (position, part) in expected.trim_end().split('…').enumerate() {
        match rest.find(part) {
            Some(start) if start == 0 || position > 0 => rest = &rest[start + part.len()..],
            _ => return false,
        }
    }
    rest.trim_end().is_empty() || expected.contains('…')
}

/// Goes through what was said line by line; gives the first line of the README that does not come.
fn missing<'e>(said: &str, expected: &[&'e str]) -> Option<&'e str> {
    let mut said = said.lines();
    let mut skips = false;
    for &line in expected {
        if line.trim() == "…" {
            skips = true;
            continue;
        }
        let found = if skips { said.any(|it| fits(it, line)) } else { said.next().is_some_and(|it| fits(it, line)) };
        if !found {
            return Some(line);
        }
        skips = false;
    }
    None
}

#[test]
fn transcripts_are_true() {
    let readme = std::fs::read_to_string(workspace().join("README.md")).expect("there is a README");
    let blocks: Vec<Vec<&str>> =
        readme.split("\n```").skip(1).step_by(2).map(|block| block.lines().skip(1).collect()).collect();
    let mut count = 0;
    let mut check = |arguments: &str, expected: &[&str]| {
        let said = run(arguments);
        assert_eq!(missing(&said, expected), None, "{arguments} says\n{said}");
        count += 1;
    };
    for (position, block) in blocks.iter().enumerate() {
        // A block of a command alone is followed by what it says.
        if let ([only], Some(next)) = (&block[..], blocks.get(position + 1))
            && let Some(arguments) = only.strip_prefix(PROMPT)
        {
            check(arguments, next);
        }
        let starts: Vec<usize> = (0..block.len()).filter(|&line| block[line].starts_with("$ cargo run")).collect();
        for (number, &start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(block.len());
            let arguments = block[start].strip_prefix("$ ").and_then(|line| line.strip_prefix(PROMPT));
            check(arguments.expect("a command of the README runs the program"), &block[start + 1..end]);
        }
    }
    assert!(count >= 4, "the README has transcripts");
}
