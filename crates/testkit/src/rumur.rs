//! Runs the peer rumur on a Murphi text: generates its verifier in C, compiles and runs it, and parses the verdict, the
//! number of states and the number of rules fired from its output.
//!
//! rumur is optional: if it or a C compiler is not installed, [`Rumur::find_or_skip`] decides whether the test is
//! skipped or fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use quotient_ir::DeadlockMode;

use crate::pool::map_on_workers;
use crate::prerequisites::{Prerequisite, require_or_skip};
use crate::verdict::VerdictClass;

/// An installed rumur and the C compiler for its verifiers.
#[derive(Clone, Debug)]
pub struct Rumur {
    program: PathBuf,
    compiler: PathBuf,
}

/// The optimisation level for compiling a verifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimization {
    /// Fast to compile, for models of up to some hundred thousand states.
    #[default]
    Quick,
    /// Slower to compile, for larger models.
    Full,
}

/// Options for running rumur. Symmetry reduction is always off and there is one thread.
#[derive(Clone, Debug)]
pub struct RumurOptions {
    /// What counts as a deadlock.
    pub deadlock: DeadlockMode,
    /// The optimisation level.
    pub optimization: Optimization,
    /// The time limit of the verifier.
    pub timeout: Duration,
    /// Evaluate in integers of at least 32 bits (the widest signed ones rumur offers). Otherwise rumur uses the
    /// narrowest that hold every type of the model, and an intermediate result beyond those is a run-time error.
    pub wide_values: bool,
    /// Reduce by the declared scalarsets.
    pub symmetry: bool,
}

impl Default for RumurOptions {
    fn default() -> Self {
        Self {
            deadlock: DeadlockMode::default(),
            optimization: Optimization::default(),
            timeout: Duration::from_secs(120),
            wide_values: true,
            symmetry: false,
        }
    }
}

/// rumur's answer about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RumurAnswer {
    /// The verdict.
    pub class: VerdictClass,
    /// States stored; `None` if the model was rejected.
    pub states: Option<u64>,
    /// Rules fired; `None` if the model was rejected.
    pub rules_fired: Option<u64>,
    /// Its message about the error, in one line; empty if there is none.
    pub message: String,
}

impl RumurAnswer {
    /// The name of the violated property, or the text of the failed assertion or error statement, if it has one.
    pub fn subject(&self) -> Option<&str> {
        match self.class {
            VerdictClass::Invariant | VerdictClass::Cover | VerdictClass::Liveness => {
                let (_, rest) = self.message.split_once('"')?;
                Some(rest.rsplit_once('"')?.0)
            }
            // After the source location.
            VerdictClass::Assertion => self.message.splitn(3, ": ").nth(2),
            VerdictClass::ErrorStatement => Some(&self.message),
            _ => None,
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RumurFailure {
    /// A program could not be started, or a file not written or read.
    System(String),
    /// rumur crashed on the model instead of refusing it. With its output.
    Crashed(String),
    /// The generated verifier does not compile: a bug of rumur. With the compiler's messages.
    Compile(String),
    /// The verifier (or rumur itself) was stopped after this long.
    Timeout(Duration),
    /// The verifier crashed or printed something unexpected. With its output.
    Unreadable(String),
}

impl std::fmt::Display for RumurFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::System(reason) => write!(formatter, "rumur could not be run: {reason}"),
            Self::Crashed(output) => write!(formatter, "rumur crashed: {output}"),
            Self::Compile(messages) => write!(formatter, "rumur's verifier does not compile: {messages}"),
            Self::Timeout(limit) => write!(formatter, "rumur did not finish in {} s", limit.as_secs()),
            Self::Unreadable(output) => write!(formatter, "rumur's verifier printed no result:\n{output}"),
        }
    }
}

impl std::error::Error for RumurFailure {}

impl From<std::io::Error> for RumurFailure {
    fn from(error: std::io::Error) -> Self {
        Self::System(error.to_string())
    }
}

impl Rumur {
    /// The installed rumur and C compiler, or what is missing.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn locate() -> Result<Self, String> {
        let missing = |what: &str| format!("{what} is not installed (Debian: apt-get install rumur gcc)");
        let program = find_program("rumur").ok_or_else(|| missing("rumur"))?;
        let compiler = find_program("cc").or_else(|| find_program("gcc")).or_else(|| find_program("clang"));
        Ok(Self { program, compiler: compiler.ok_or_else(|| missing("a C compiler"))? })
    }

    /// The installed rumur and C compiler; `None` if the test should be skipped.
    ///
    /// # Panics
    /// See [`require_or_skip`].
    pub fn find_or_skip(purpose: &str) -> Option<Self> {
        require_or_skip(Prerequisite::Peer, purpose, Self::locate())
    }

    /// The version rumur reports, such as `v2022.08.20-1`.
    pub fn version(&self) -> Option<String> {
        let output = Command::new(&self.program).arg("--version").output().ok()?;
        String::from_utf8_lossy(&output.stdout).split_whitespace().last().map(str::to_owned)
    }

    /// Generates, compiles and runs the verifier for a text.
    ///
    /// # Errors
    /// If there is no answer. A rejected model is an answer.
    pub fn check(&self, text: &str, options: &RumurOptions) -> Result<RumurAnswer, RumurFailure> {
        let folder = tempfile::Builder::new().prefix("quotient-rumur-").tempdir()?;
        let file = |name: &str| folder.path().join(name);
        fs::write(file("model.m"), text)?;

        let mut generate = Command::new(&self.program);
        generate.arg(file("model.m")).arg("--output").arg(file("model.c"));
        generate.args(["--symmetry-reduction", if options.symmetry { "heuristic" } else { "off" }]);
        generate.args(["--threads", "1", "--counterexample-trace", "off"]);
        generate.args(["--deadlock-detection", deadlock_word(options.deadlock)]);
        if options.wide_values {
            generate.args(["--value-type", "int32_t"]);
        }
        let generated = run(&mut generate, folder.path(), options.timeout)?;
        if generated.status.code().is_none() {
            return Err(RumurFailure::Crashed(generated.text));
        }
        if !generated.status.success() {
            let message = generated.text.lines().find(|line| line.contains("error:")).unwrap_or(&generated.text);
            let message = message.rsplit("error: ").next().unwrap_or_default().trim().to_owned();
            return Ok(RumurAnswer { class: VerdictClass::Rejected, states: None, rules_fired: None, message });
        }

        let mut compile = Command::new(&self.compiler);
        compile.args(["-std=c11", "-w"]);
        compile.args(match options.optimization {
            Optimization::Quick => ["-O0"].as_slice(),
            Optimization::Full => &["-O3", "-march=native"],
        });
        compile.arg(file("model.c")).arg("-lpthread").arg("-o").arg(file("model"));
        let compiled = run(&mut compile, folder.path(), options.timeout)?;
        if !compiled.status.success() {
            return Err(RumurFailure::Compile(compiled.text));
        }

        let verified = run(&mut Command::new(file("model")), folder.path(), options.timeout)?;
        read_answer(&verified.text).ok_or(RumurFailure::Unreadable(verified.text))
    }

    /// Checks several texts, two at a time; the answers are in the order of the texts.
    pub fn check_all<Text: AsRef<str> + Sync>(
        &self,
        texts: &[Text],
        options: &RumurOptions,
    ) -> Vec<Result<RumurAnswer, RumurFailure>> {
        map_on_workers(2, texts, |text| self.check(text.as_ref(), options))
    }
}

fn deadlock_word(mode: DeadlockMode) -> &'static str {
    match mode {
        DeadlockMode::Off => "off",
        DeadlockMode::Stuck => "stuck",
        DeadlockMode::Stuttering => "stuttering",
    }
}

/// The path of a program, if it is on the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// How a program ended and what it printed on both streams.
struct Finished {
    status: ExitStatus,
    text: String,
}

/// Runs a program until it ends or the time is up. Output goes to a file, so that a program that prints much cannot
/// block on a full pipe.
fn run(command: &mut Command, folder: &Path, limit: Duration) -> Result<Finished, RumurFailure> {
    let path = folder.join("output.txt");
    let output = fs::File::create(&path)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).env("LC_ALL", "C");
    let mut child = command.spawn()?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(RumurFailure::Timeout(limit));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Ok(Finished { status, text: String::from_utf8_lossy(&fs::read(&path)?).into_owned() })
}

/// Parses the answer from the output of a verifier.
fn read_answer(output: &str) -> Option<RumurAnswer> {
    let (states, rules_fired) = output.lines().rev().find_map(|line| {
        let (states, rest) = line.trim().split_once(" states, ")?;
        let (rules_fired, _) = rest.split_once(" rules fired")?;
        Some((states.parse().ok()?, rules_fired.parse().ok()?))
    })?;
    let (class, message) = if output.lines().any(|line| line.trim() == "No error found.") {
        (VerdictClass::Holds, String::new())
    } else {
        read_error(output)?
    };
    Some(RumurAnswer { class, states: Some(states), rules_fired: Some(rules_fired), message })
}

/// The kind of the first error and its message.
fn read_error(output: &str) -> Option<(VerdictClass, String)> {
    let mut lines = output.lines().map(str::trim);
    while let Some(line) = lines.next() {
        // With traces off the message follows on the next line that is not empty.
        if line.starts_with("The following is the error trace") {
            let message = lines.find(|line| !line.is_empty())?.to_owned();
            return Some((class_of_message(&message), message));
        }
        if line.starts_with("liveness property ") && line.contains(" violated") {
            return Some((VerdictClass::Liveness, line.to_owned()));
        }
        if line.starts_with("cover ") && line.ends_with(" not hit") {
            return Some((VerdictClass::Cover, line.to_owned()));
        }
    }
    None
}

/// The class of a run-time error message. An error statement prints only its own text, so it is whatever matches none
/// of rumur's own messages.
fn class_of_message(message: &str) -> VerdictClass {
    const RANGE: [&str; 9] = [
        "write of out-of-range value into ",
        "index out of range in expression ",
        "overflow when indexing array ",
        "integer overflow in ",
        "division by zero in ",
        "modulus by zero in ",
        " passed an out-of-range value ",
        "infinite loop due to step being ",
        " reached without returning ",
    ];
    if message == "deadlock" {
        VerdictClass::Deadlock
    } else if message.starts_with("invariant ") && message.ends_with(" failed") {
        VerdictClass::Invariant
    } else if message.starts_with("Assertion failed: ") {
        VerdictClass::Assertion
    } else if message.contains("read of undefined value in ") {
        VerdictClass::UndefinedRead
    } else if RANGE.iter().any(|part| message.contains(part)) {
        VerdictClass::Range
    } else {
        VerdictClass::ErrorStatement
    }
}

#[cfg(test)]
mod tests {
    use quotient_ir::DeadlockMode;

    use super::{Rumur, RumurAnswer, RumurOptions, read_answer};
    use crate::verdict::VerdictClass;

    /// Models that differ in one part, with rumur's answer about each: `{}` is a rule body.
    const ANSWERS: [(&str, VerdictClass, u64, u64); 7] = [
        ("x := (x + 1) % 4;", VerdictClass::Holds, 4, 4),
        ("x := x < 3 ? x + 1 : x;", VerdictClass::Deadlock, 4, 4),
        ("assert x < 2 \"small\"; x := x + 1;", VerdictClass::Assertion, 3, 2),
        ("if x = 2 then error \"two\"; end; x := x + 1;", VerdictClass::ErrorStatement, 3, 2),
        ("x := x + 1;", VerdictClass::Range, 4, 3),
        ("x := x / (2 - x);", VerdictClass::Deadlock, 1, 1),
        ("undefine x; x := x;", VerdictClass::UndefinedRead, 1, 0),
    ];

    fn model(body: &str) -> String {
        format!("var x: 0..3; startstate begin x := 0; end; rule begin {body} end;")
    }

    #[test]
    fn rumur_answers_as_it_always_did() {
        let Some(rumur) = Rumur::find_or_skip("reading rumur's answers") else { return };
        let texts: Vec<String> = ANSWERS.iter().map(|(body, ..)| model(body)).collect();
        for ((body, class, states, rules_fired), answer) in
            ANSWERS.iter().zip(rumur.check_all(&texts, &RumurOptions::default()))
        {
            let RumurAnswer { class: found, states: found_states, rules_fired: found_rules, message } =
                answer.unwrap_or_else(|failure| panic!("{body}: {failure}"));
            assert_eq!(
                (found, found_states, found_rules),
                (*class, Some(*states), Some(*rules_fired)),
                "{body}: {message}"
            );
        }
        let rejected =
            rumur.check("var x: 0..3; rule begin y := 1; end;", &RumurOptions::default()).expect("an answer");
        assert_eq!((rejected.class, rejected.states), (VerdictClass::Rejected, None));
        assert!(rejected.message.contains("unknown symbol: y"), "{}", rejected.message);
        let stuck = RumurOptions { deadlock: DeadlockMode::Stuck, ..RumurOptions::default() };
        assert_eq!(rumur.check(&texts[1], &stuck).expect("an answer").class, VerdictClass::Holds);
        let subject = |text: &String| rumur.check(text, &stuck).expect("an answer").subject().map(str::to_owned);
        assert_eq!(subject(&texts[2]).as_deref(), Some("small"));
        assert_eq!(subject(&texts[3]).as_deref(), Some("two"));
        let invariant = texts[0].clone() + "invariant \"the name\" x < 2;";
        assert_eq!(subject(&invariant).as_deref(), Some("the name"));
    }

    #[test]
    fn output_without_a_result_is_no_answer() {
        assert_eq!(read_answer(""), None);
        assert_eq!(read_answer("1 error(s) found.\n 3 states, 4 rules fired in 0s."), None);
        let cover =
            "\tcover \"a\" hit 1 times\n\tcover \"b\" not hit\n1 error(s) found.\n\t2 states, 3 rules fired in 0s.";
        let answer = read_answer(cover).expect("an answer");
        assert_eq!((answer.class, answer.states, answer.rules_fired), (VerdictClass::Cover, Some(2), Some(3)));
        assert_eq!(answer.message, "cover \"b\" not hit");
    }
}
