//! Runs the peer SPIN on a Promela text: generates its verifier without optimisations, compiles and runs it, and parses
//! the number of stored states and the kinds of errors from its output.
//!
//! SPIN is optional: if it or a C compiler is not installed, [`Spin::find_or_skip`] decides whether the test is skipped
//! or fails. If `tcc` is available, it is used: it compiles a verifier in a fraction of the time that `cc` takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::prerequisites::{Prerequisite, require_or_skip};

/// An installed SPIN and the C compiler for its verifiers.
#[derive(Clone, Debug)]
pub struct Spin {
    compiler: &'static str,
}

/// A transition from a point of a process type that no process ever took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The process type.
    pub process: String,
    /// The number of the point.
    pub point: usize,
    /// The line.
    pub line: usize,
    /// Whether it is just `skip`. Most of these are not steps, and SPIN lists only some.
    pub is_skip: bool,
}

/// SPIN's answer about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinAnswer {
    /// States stored.
    pub states: u64,
    /// Whether there is an invalid end state.
    pub deadlock: bool,
    /// Whether there is another error: a failed assertion, an index out of bounds.
    pub error: bool,
    /// Whether the search was complete.
    pub complete: bool,
    /// The processor time of the search, if it was measured.
    pub elapsed: Duration,
    /// Its output about errors.
    pub message: String,
    /// The points that no process reaches, each once for every transition from it.
    pub unreached: Vec<Unreached>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpinFailure {
    /// SPIN does not accept the model. With its output.
    Rejected(String),
    /// The verifier does not compile (for example, because of embedded C).
    Compile(String),
    /// It was stopped after this long.
    Timeout(Duration),
    /// A program could not be started, or printed something unexpected.
    System(String),
}

impl std::fmt::Display for SpinFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rejected(output) => write!(formatter, "spin rejects the model: {output}"),
            Self::Compile(messages) => write!(formatter, "spin's verifier does not compile: {messages}"),
            Self::Timeout(limit) => write!(formatter, "spin did not finish in {} s", limit.as_secs()),
            Self::System(reason) => write!(formatter, "spin could not be run: {reason}"),
        }
    }
}

impl std::error::Error for SpinFailure {}

impl From<std::io::Error> for SpinFailure {
    fn from(error: std::io::Error) -> Self {
        Self::System(error.to_string())
    }
}

impl Spin {
    /// The installed SPIN and C compiler; `None` if the test should be skipped.
    ///
    /// # Panics
    /// See [`require_or_skip`].
    pub fn find_or_skip(purpose: &str) -> Option<Self> {
        require_or_skip(Prerequisite::Peer, purpose, Self::locate())
    }

    /// The installed SPIN and C compiler, or what is missing.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn locate() -> Result<Self, String> {
        let runs = |program: &str, argument: &str| {
            let found = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
            found.is_ok_and(|status| status.success())
        };
        if !runs("spin", "-V") {
            return Err("`spin` is not installed".into());
        }
        let compiler = [("tcc", "-v"), ("cc", "--version")].into_iter().find(|(program, it)| runs(program, it));
        compiler.map(|(compiler, _)| Self { compiler }).ok_or_else(|| "no C compiler is installed".into())
    }

    /// Makes the verifier of a model.
    fn verifier(
        &self,
        model: &Path,
        definitions: &[(String, String)],
        directives: &[&str],
        folder: &Path,
        timeout: Duration,
    ) -> Result<PathBuf, SpinFailure> {
        let model = fs::canonicalize(model)?;
        let mut generate = Command::new("spin");
        generate.args(definitions.iter().map(|(name, value)| format!("-D{name}={value}")));
        generate.args(["-a", "-o1", "-o2", "-o3"]).arg(&model).current_dir(folder);
        let output = run_limited(&mut generate, timeout)?;
        if !folder.join("pan.c").exists() || !output.status.success() {
            return Err(SpinFailure::Rejected(text(&output)));
        }
        let mut compile = Command::new(self.compiler);
        compile.args(["-w", "-DNOREDUCE", "-DMEMLIM=3000"]).args(directives);
        compile.args(["-o", "pan", "pan.c"]).current_dir(folder);
        let output = run_limited(&mut compile, timeout)?;
        if !output.status.success() {
            return Err(SpinFailure::Compile(text(&output)));
        }
        Ok(folder.join("pan"))
    }

    /// Whether the `never` claim of a model reaches its end, or an assertion in it fails.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn violates_claim(&self, model: &Path, timeout: Duration) -> Result<bool, SpinFailure> {
        self.violates_runs(model, &["-DSAFETY"], &[], timeout)
    }

    /// Whether a model violates what SPIN checks about whole runs: `-a` for formulas, claims and labels `accept`, `-l` for
    /// labels `progress` (with the directive `-DNP`), `-f` for weak fairness, `-N name` for one of several formulas.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn violates_runs(
        &self,
        model: &Path,
        directives: &[&str],
        arguments: &[&str],
        timeout: Duration,
    ) -> Result<bool, SpinFailure> {
        let folder = tempfile::tempdir()?;
        let verifier = self.verifier(model, &[], directives, folder.path(), timeout)?;
        let mut run = Command::new(&verifier);
        run.args(["-m100000", "-w20", "-E"]).args(arguments).current_dir(folder.path());
        let output = text(&run_limited(&mut run, timeout)?);
        match number_after(&output, "errors: ") {
            Some(0) if output.contains("too small") => Err(SpinFailure::System("the search was not complete".into())),
            Some(errors) => Ok(errors > 0),
            None => Err(SpinFailure::System(output)),
        }
    }

    /// Runs SPIN without optimisations and without claims on a model.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn run(
        &self,
        model: &Path,
        definitions: &[(String, String)],
        timeout: Duration,
    ) -> Result<SpinAnswer, SpinFailure> {
        let folder = tempfile::tempdir()?;
        let verifier = self.verifier(model, definitions, &["-DSAFETY", "-DNOCLAIM"], folder.path(), timeout)?;
        // Once for end states and once for all other errors: the number of errors is not more specific.
        let mut answers = Vec::new();
        for ignored in ["-A", "-E"] {
            // The stack of the search takes memory and time to set up: a deep one only if needed.
            for depth in ["-m50000", "-m3000000"] {
                let start = Instant::now();
                let mut run = Command::new(&verifier);
                run.args([depth, "-w20", "-c0", ignored]).current_dir(folder.path());
                let output = run_limited(&mut run, timeout)?;
                let answer = (text(&output), start.elapsed());
                if depth == "-m3000000" || !answer.0.contains("too small") {
                    answers.push(answer);
                    break;
                }
            }
        }
        let states = number_before(&answers[0].0, " states, stored");
        let errors = |position: usize| number_after(&answers[position].0, "errors: ");
        match (states, errors(0), errors(1)) {
            (Some(states), Some(deadlocks), Some(others)) => {
                let all: Vec<&str> = answers.iter().flat_map(|(it, _)| it.lines()).collect();
                let about: Vec<&str> = all.iter().copied().filter(|line| line.starts_with("pan:")).collect();
                // Some errors are neither assertions nor end states.
                let end_state = answers[0].0.contains("invalid end state (at");
                Ok(SpinAnswer {
                    states,
                    deadlock: deadlocks > 0 && end_state,
                    error: others > 0,
                    complete: !all
                        .iter()
                        .any(|line| line.contains("too small") || line.contains("Search not completed")),
                    elapsed: answers[0].1,
                    message: about.join("; "),
                    unreached: unreached(&answers[0].0),
                })
            }
            _ => Err(SpinFailure::System(answers[0].0.clone())),
        }
    }
}

/// The unreached points in the output of a verifier, each once for every transition from it.
fn unreached(output: &str) -> Vec<Unreached> {
    let mut process = None;
    let mut found = Vec::new();
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("unreached in ") {
            // Claims and traces are not statements of a process.
            let name = if rest.trim() == "init" { Some(":init:") } else { rest.strip_prefix("proctype ") };
            process = name.map(|name| name.trim().to_owned());
        } else if let Some((place, rest)) = line.split_once(", state ").filter(|_| line.starts_with('\t')) {
            let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
            let point = number(rest.split(',').next());
            let line = number(place.rsplit(':').next());
            let is_skip = rest.ends_with("\"(1)\"");
            let places = process.clone().zip(point).zip(line);
            found.extend(places.map(|((process, point), line)| Unreached { process, point, line, is_skip }));
        }
    }
    found
}

fn text(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

fn number_before(text: &str, words: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains(words))?;
    line.split_once(words)?.0.trim().parse::<f64>().ok().map(|number| number as u64)
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.split_once(words)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Runs a program, and kills it when its time is up.
fn run_limited(command: &mut Command, timeout: Duration) -> Result<Output, SpinFailure> {
    // Its output goes to files: a full pipe that is not read would block it.
    let folder = tempfile::tempdir()?;
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    let mut child =
        command.stdin(Stdio::null()).stdout(fs::File::create(&out)?).stderr(fs::File::create(&err)?).spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Output { status, stdout: fs::read(&out)?, stderr: fs::read(&err)? });
        }
        if start.elapsed() > timeout {
            child.kill()?;
            child.wait()?;
            return Err(SpinFailure::Timeout(timeout));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
