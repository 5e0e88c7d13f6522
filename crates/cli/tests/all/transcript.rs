//! Running the program and writing down what it says, with what differs from run to run masked.

use std::ffi::OsStr;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use snapbox::IntoData;

/// What a run of the program said and how it ended.
pub(crate) struct Transcript {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program among the test models.
pub(crate) fn quotient<I: IntoIterator<Item: AsRef<OsStr>>>(arguments: I) -> Transcript {
    quotient_with(arguments, b"", &[])
}

/// Runs the program with a standard input and environment variables.
pub(crate) fn quotient_with<I: IntoIterator<Item: AsRef<OsStr>>>(
    arguments: I,
    input: &[u8],
    environment: &[(&str, &str)],
) -> Transcript {
    let mut child = Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(models())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input closes it: that is not what is tested here.
    let _ = child.stdin.take().expect("the input is piped").write_all(input);
    let output = child.wait_with_output().expect("the program ends");
    Transcript {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

/// Compares what was said with what is expected, to the letter. `SNAPSHOTS=overwrite` writes down
/// what is said now.
#[track_caller]
pub(crate) fn expect(said: impl fmt::Display, expected: impl IntoData) {
    snapbox::assert_data_eq!(said.to_string(), expected.raw());
}

/// The folder of the test models.
pub(crate) fn models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

impl fmt::Display for Transcript {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.stdout.lines() {
            writeln!(formatter, "{}", mask(&on_any_system(line)))?;
        }
        if !self.stderr.is_empty() {
            writeln!(formatter, "---- stderr")?;
            for line in self.stderr.lines() {
                writeln!(formatter, "{}", on_any_system(line.trim_end()))?;
            }
        }
        match self.status {
            Some(status) => writeln!(formatter, "---- exit status {status}"),
            None => writeln!(formatter, "---- killed"),
        }
    }
}

/// What Windows words otherwise.
fn on_any_system(line: &str) -> String {
    line.replace("quotient.exe", "quotient")
        .replace("The system cannot find the file specified.", "No such file or directory")
        .replace("The system cannot find the path specified. (os error 3)", "No such file or directory (os error 2)")
}

/// What an object says of itself differs from day to day, and is tested by itself: everything between the command and
/// what follows the options.
fn without_header(line: &str) -> String {
    let Some(start) = line.find(",\"tool\":{").filter(|_| line.starts_with("{\"schema\":")) else { return line.into() };
    let Some(options) = line.find(",\"options\":{") else { return line.into() };
    let end = options + line[options..].find('}').expect("an object ends") + 1;
    format!("{}{}", &line[..start], &line[end..])
}

/// Times and sizes differ from machine to machine.
fn mask(line: &str) -> String {
    let line = &without_header(line);
    // How much is evaluated exhaustively is a matter of budgets, and a graph may get smaller.
    if ["time  ", "memory  ", "certified  ", "graph  "].iter().any(|name| line.starts_with(name)) {
        let (name, _) = line.split_at(13);
        return format!("{name}…");
    }
    let mut line = line.to_owned();
    // How long it took to find symmetries, and how representatives are found, which is not what is tested here.
    for (start, words) in
        [("symmetries  ", " in "), ("symmetries  ", "none found ("), ("reduction  ", "; "), ("text  ", " in ")]
    {
        if line.starts_with(start)
            && let Some(position) = line.find(words)
        {
            line.replace_range(position + words.len().., "…");
        }
    }
    if let Some(start) = line.find("\"method\":\"").map(|start| start + 10)
        && let Some(end) = line[start..].find(",\"complete\"")
    {
        line.replace_range(start - 1..start + end, "\"…\"");
    }
    for (key, ends) in [
        ("\"seconds\":", &[',', '}'][..]),
        ("\"canonicalization_seconds\":", &[',', '}']),
        ("\"seconds_by_phase\":", &['}']),
        ("\"certification\":", &['}']),
        ("\"graph\":{", &['}']),
        ("\"store_bytes\":", &[',', '}']),
        ("\"peak_memory_bytes\":", &[',', '}']),
    ] {
        let mut from = 0;
        while let Some(start) = line[from..].find(key).map(|start| from + start + key.len()) {
            let mut end = start + line[start..].find(ends).expect("a value is followed by something");
            if line[start..].starts_with('{') {
                end += 1;
            }
            // Nothing was done that could take time. Not every system tells how much memory was taken.
            if key == "\"peak_memory_bytes\":" || !["0.0", "null"].contains(&&line[start..end]) {
                line.replace_range(start..end, "\"…\"");
            }
            from = start;
        }
    }
    line
}
