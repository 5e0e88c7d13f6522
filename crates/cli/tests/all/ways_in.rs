//! The command line, the library, the explorer and the editor give the same report about a model: verdict, counts and group
//! do not depend on who asks.
//!
//! A sample of the examples that are small enough is asked about; with `QUOTIENT_WHOLE_CROSS=1`, all of them.
//! `QUOTIENT_RANDOM_SEED` sets where the sample begins.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use quotient::{Control, ExploreOptions, Language, Limits, Model, Options, Report, Silent, Verdict, explore};
use quotient_testkit::examples::workspace;
use quotient_testkit::switches::number_from;
use serde_json::{Value, json};

/// Models with more states take too long to be searched by everyone.
const MOST_STATES: u64 = 20_000;
/// One of so many models is asked about, unless all are.
const SAMPLE: usize = 8;

/// What everyone says about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    verdict: String,
    states: u64,
    transitions: u64,
    represented: Option<String>,
    group: String,
}

fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Inconclusive => "inconclusive",
    }
    .to_owned()
}

impl Answer {
    fn of_report(report: &Report) -> Self {
        let group = report.symmetry.as_ref().and_then(|symmetry| symmetry.group.as_ref().ok());
        Self {
            verdict: verdict(report.verdict),
            states: report.states,
            transitions: report.transitions,
            represented: report.represented.as_ref().map(ToString::to_string),
            group: group.map_or("trivial", |group| &group.structure).to_owned(),
        }
    }

    fn of_json(json: &Value, group: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Self {
            verdict: text(&json["verdict"]).unwrap_or_else(|| panic!("no verdict: {json}")),
            states: json["states"].as_u64().expect("a number"),
            transitions: json["transitions"].as_u64().expect("a number"),
            represented: text(&json["represented"]),
            group: group.as_str().unwrap_or("trivial").to_owned(),
        }
    }
}

fn quotient() -> Command {
    Command::new(env!("CARGO_BIN_EXE_quotient"))
}

fn by_command_line(path: &Path, command: &str) -> Answer {
    let output = quotient().arg(command).arg(path).args(["--format", "json", "--no-progress"]).output();
    let output = output.expect("the program runs");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    Answer::of_json(&json, &json["symmetry"]["structure"])
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn by_explorer(path: &Path) -> Answer {
    let mut command = quotient();
    command.arg("check").arg(path).args(["--serve", "--no-browser"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut process = Running(child.expect("the program runs"));
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("page: http://").expect("an address");
    let (host, page) = address.split_once('/').expect("a path");
    loop {
        let mut stream = TcpStream::connect(host).expect("it listens");
        write!(stream, "GET /{page}api/report HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .expect("a request");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("an answer");
        let (head, body) = said.split_once("\r\n\r\n").expect("a head and a body");
        if head.starts_with("HTTP/1.1 200") {
            let json: Value = serde_json::from_str(body).expect("JSON");
            return Answer::of_json(&json, &json["symmetry"]["structure"]);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks the service for editors to run a command on a file.
fn by_editor(path: &Path, language: Language, asked: &str) -> Value {
    let mut command = quotient();
    command.args(["language-server", "--stdio"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut process = Running(child.expect("the program runs"));
    let mut input = process.0.stdin.take().expect("a pipe");
    let mut output = BufReader::new(process.0.stdout.take().expect("a pipe"));
    let mut send = |message: Value| {
        let text = message.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        input.flush().expect("it listens");
    };
    let text = std::fs::read(path).expect("a file");
    let text = String::from_utf8_lossy(&text);
    let uri = format!("file://{}", path.display());
    let document = json!({"uri": uri, "languageId": language.identifier(), "version": 1, "text": text});
    let run = json!({"command": asked, "arguments": [uri]});
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}));
    send(json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    send(json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}));
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "workspace/executeCommand", "params": run}));
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).expect("a header") > 0, "it says something");
            match line.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().expect("a number");
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut message = vec![0; length];
        output.read_exact(&mut message).expect("a message");
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        if message["id"] == 2 && message.get("method").is_none() {
            return message["result"].clone();
        }
    }
}

fn examples() -> Vec<(PathBuf, Language)> {
    let mut found = Vec::new();
    for folder in ["murphi", "promela", "b", "dve", "csp", "pnml"] {
        let entries = std::fs::read_dir(workspace().join("models").join(folder)).expect("a folder of examples");
        for entry in entries {
            let path = entry.expect("an entry").path();
            if let Some(language) = Language::from_file_name(&path.to_string_lossy()) {
                found.push((path, language));
            }
        }
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found
}

#[test]
fn everyone_gives_the_same_report() {
    let is_whole = std::env::var_os("QUOTIENT_WHOLE_CROSS").is_some_and(|value| value == "1");
    let (step, first) = match is_whole {
        true => (1, 0),
        false => (SAMPLE, number_from("QUOTIENT_RANDOM_SEED", 0) as usize % SAMPLE),
    };
    let mut compared = 0;
    for (path, language) in examples().into_iter().skip(first).step_by(step) {
        let limits = Limits { max_states: Some(MOST_STATES), ..Limits::default() };
        let some = quotient::check(&path, &Options::default().limits(limits));
        if !some.is_ok_and(|report| report.states < MOST_STATES) {
            continue;
        }
        let report = quotient::check(&path, &Options::default()).expect("a report");
        let answer = Answer::of_report(&report);
        assert_eq!(answer, by_command_line(&path, "check"), "command line: {}", path.display());
        assert_eq!(answer, by_explorer(&path), "explorer: {}", path.display());
        let told = by_editor(&path, language, "quotient.check");
        assert_eq!(answer, Answer::of_json(&told, &told["group"]), "editor: {}", path.display());
        // However it was loaded, a model is explored without its claims.
        let model = Model::from_path(&path).expect("a model");
        let some = ExploreOptions { limits, ..ExploreOptions::default() };
        let explored = explore(&model, &some, &Control::start(&limits), &mut Silent).expect("a report");
        if explored.report.stop_reason.is_none() {
            let answer = Answer::of_report(&explored.report);
            let told = by_command_line(&path, "explore");
            assert_eq!((answer.states, answer.transitions), (told.states, told.transitions), "{}", path.display());
            let told = by_editor(&path, language, "quotient.explore");
            let told = (told["states"].as_u64(), told["transitions"].as_u64());
            assert_eq!((Some(answer.states), Some(answer.transitions)), told, "editor: {}", path.display());
        }
        compared += 1;
    }
    assert!(compared >= if is_whole { 50 } else { 4 }, "{compared} models");
}
