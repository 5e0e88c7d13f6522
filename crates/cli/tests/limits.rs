//! `--max-memory` and `--timeout` bound the whole process. A program of its own: it measures time, so nothing may run
//! beside it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// More states than fit into any memory: counters that are distinguished by their bounds.
fn large_model() -> String {
    let names: Vec<String> = (0..9).map(|number| format!("c{number}")).collect();
    let variables: String = names.iter().zip(40..).map(|(name, most)| format!("{name}: 0..{most}; ")).collect();
    let starts: String = names.iter().map(|name| format!("{name} := 0; ")).collect();
    let rule = |(name, most)| format!("rule {name} < {most} ==> begin {name} := {name} + 1; end;\n");
    let rules: String = names.iter().zip(40..).map(rule).collect();
    format!("var {variables} startstate begin {starts} end;\n{rules}")
}

/// What the program says about the model, and how long it took.
fn run(arguments: &[&str]) -> (String, Option<i32>, Duration) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.m");
    std::fs::write(&path, large_model()).expect("the model can be written");
    let begun = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(["check", "--format", "json", "--partial-order", "off"])
        .args(arguments)
        .arg(&path)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code(), begun.elapsed())
}

/// The high-water mark of resident memory that a result tells.
fn peak(result: &str) -> Option<u64> {
    let (_, after) = result.split_once("\"peak_memory_bytes\":")?;
    after.split([',', '}']).next()?.parse().ok()
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_stays_within_its_memory() {
    const LIMIT: u64 = 300 << 20;
    // The last one goes on with sets of states, and decides.
    for (engine, threads, expected) in [("explicit", "1", 4), ("explicit", "2", 4), ("auto", "1", 1)] {
        let limits = ["--max-memory", "300M", "--timeout", "120s", "--threads", threads, "--engine", engine];
        let (result, status, _) = run(&limits);
        assert_eq!(status, Some(expected), "{result}");
        assert!(expected == 1 || result.contains("\"stop_reason\":\"memory-limit\""), "{result}");
        let peak = peak(&result).expect("the system tells");
        // What is taken between two looks is all that may be too much.
        assert!(peak <= LIMIT + LIMIT / 16, "{peak} bytes with {threads} threads");
    }
}

#[test]
fn the_process_ends_in_time() {
    let (result, status, took) = run(&["--timeout", "1500ms"]);
    assert_eq!(status, Some(4), "{result}");
    assert!(result.contains("\"stop_reason\":\"time-limit\""), "{result}");
    assert!(took <= Duration::from_millis(2500), "{took:?}");
}
