//! `check --report` writes one page, and `watch` checks again when files change.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const TEXT: &str = "var x: 0..3; startstate begin x := 0; end; rule \"grow\" x < 3 ==> begin x := x + 1; end;
    rule \"shrink\" x > 0 ==> begin x := x - 1; end; invariant \"a < b & 'small'\" x < LIMIT;";

fn quotient() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quotient"));
    command.stdin(Stdio::null());
    command
}

#[test]
fn a_report_is_one_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let (model, page) = (folder.path().join("counter.m"), folder.path().join("report.html"));
    fs::write(&model, TEXT.replace("LIMIT", "2")).expect("the model can be written");
    let output = quotient().arg("check").arg("--report").args([&page, &model]).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = fs::read_to_string(&page).expect("a page");
    for part in
        ["<title>counter.m: violated</title>", "grow", "x: 1 → 2", "States by level", "<rect", "transitions", "sha256"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Names from the text are text, and nothing comes from elsewhere.
    assert!(text.contains("a &lt; b &amp; 'small'") && !text.contains("a < b"));
    assert!(!text.contains("http") && !text.contains("<script"));
}

#[test]
fn a_report_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("counter.m");
    fs::write(&model, TEXT.replace("LIMIT", "9")).expect("the model can be written");
    let output = quotient().arg("check").arg("--report").args([&folder.path().join("no/page.html"), &model]).output();
    let output = output.expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("page.html"));
}

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_model_is_checked_again_when_it_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("counter.m");
    let write = |limit: &str| fs::write(&model, TEXT.replace("LIMIT", limit)).expect("the model can be written");
    write("9");
    let mut watch = quotient();
    watch.args(["watch", "--no-progress"]).arg(&model).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(watch.spawn().expect("the program runs"));
    let (sender, lines) = mpsc::channel();
    let (out, errors) = (running.0.stdout.take().expect("a pipe"), running.0.stderr.take().expect("a pipe"));
    let other = sender.clone();
    std::thread::spawn(move || {
        BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    std::thread::spawn(move || {
        BufReader::new(errors).lines().map_while(Result::ok).try_for_each(|line| other.send(line))
    });
    let until = |text: &str| {
        let mut seen = Vec::new();
        loop {
            let line = lines.recv_timeout(Duration::from_secs(30));
            seen.push(line.unwrap_or_else(|_| panic!("`{text}` does not come: {seen:?}")));
            if seen[seen.len() - 1].contains(text) {
                return;
            }
        }
    };
    until("holds");
    // The text must differ in its length or time, whatever the clock of the file system.
    write("2  ");
    until("has changed");
    until("violated: invariant");
    write("nothing");
    until("error");
    write("8");
    until("holds");
}

#[test]
fn what_cannot_be_watched() {
    for arguments in [&["watch", "-"][..], &["watch", "--serve", "model.m"]] {
        let output = quotient().args(arguments).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}
