//! Wrong usage, and what is no model at all, where a transcript does not suffice.

use std::process::{Command, Stdio};

use crate::transcript::{expect, quotient, quotient_with};
use snapbox::str;

#[test]
fn version() {
    let expected = format!("quotient {}\n---- exit status 0\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(quotient(["-V"]).to_string(), expected);
}

#[test]
fn unknown_language() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.xyz");
    std::fs::copy(crate::transcript::models().join("counter.m"), &path).expect("the model is copied");
    let transcript = quotient(["check".as_ref(), path.as_os_str()]);
    assert_eq!(transcript.status, Some(2), "{transcript}");
    assert!(transcript.stderr.contains("--language murphi"), "{transcript}");
    let transcript = quotient(["check".as_ref(), "--language=murphi".as_ref(), path.as_os_str()]);
    assert_eq!(transcript.status, Some(0), "{transcript}");
}

#[test]
fn wrong_values() {
    for (arguments, words) in [
        (&["check", "--symmetry", "x", "counter.m"][..], "[possible values: auto, declared, off]"),
        (&["check", "--reduction", "best", "counter.m"], "[possible values: auto, none, canonical, sorted"),
        (&["check", "--symmetry", "off", "--reduction", "canonical", "counter.m"], "add --symmetry auto"),
        (&["explore", "--reduction", "flooding", "counter.m"], "add --symmetry auto"),
        (&["check", "--symmetry", "off", "--cross-check", "counter.m"], "is not reduced"),
        (&["check", "--reduction", "none", "--cross-check", "counter.m"], "is not reduced"),
        (&["simulate", "--random", "--symmetry", "auto", "counter.m"], "does not use symmetries"),
        (&["check", "--threads", "0", "counter.m"], "needs a thread"),
        (&["check", "--threads", "5000", "counter.m"], "at most 1024"),
        (&["check", "--timeout", "5", "counter.m"], "with its unit"),
        (&["check", "--max-memory", "5", "counter.m"], "with its unit"),
        (&["check", "--max-states", "many", "counter.m"], "invalid digit"),
        (&["check", "--search", "best", "counter.m"], "[possible values: bfs, dfs]"),
        (&["check", "-D", "Limit", "counter.m"], "NAME=VALUE"),
        (&["explore", "--export", "graph.png", "counter.m"], "must end in .aut or .dot"),
        (&["explore", "--export", "no/such/folder/graph.aut", "counter.m"], "cannot write"),
        (&["lower", "--output", "no/such/folder/model.m", "counter.m"], "cannot write"),
        (&["simulate", "--interactive", "-"], "cannot be both"),
        (&["check"], "Usage:"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&[], "Usage:"),
    ] {
        let transcript = quotient(arguments);
        assert_eq!(transcript.status, Some(2), "{arguments:?}\n{transcript}");
        assert!(transcript.stderr.contains(words), "{arguments:?}\n{transcript}");
        assert!(transcript.stdout.is_empty(), "{arguments:?}\n{transcript}");
    }
}

#[test]
fn binary_garbage() {
    let folder = tempfile::tempdir().expect("a folder");
    // Every byte, in an order without meaning; once with and once without the zero byte.
    let bytes: Vec<u8> = (0..20_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let text: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != 0).collect();
    for (name, content) in [("zero.m", &bytes), ("text.m", &text)] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("the file is written");
        let transcript = quotient(["check".as_ref(), path.as_os_str()]);
        assert_eq!(transcript.status, Some(3), "{transcript}");
        assert!(transcript.stderr.contains("error"), "{transcript}");
        assert!(transcript.stderr.len() < 100_000, "{transcript}");
        assert!(!transcript.stderr.contains("panicked"), "{transcript}");
        assert!(!transcript.stderr.contains(['\x1b', '\x07']), "{transcript}");
    }
}

#[test]
fn endless_input() {
    if std::path::Path::new("/dev/zero").exists() {
        let transcript = quotient(["check", "--language", "murphi", "/dev/zero"]);
        assert_eq!(transcript.status, Some(3), "{transcript}");
    }
}

#[test]
fn deep_nesting() {
    for (open, close) in [("(", ")"), ("!", ""), ("-", ""), ("forall i: boolean do ", " end"), ("true -> ", "")] {
        let depth = 50_000;
        let condition = format!("{}true{}", open.repeat(depth), close.repeat(depth));
        let model = format!("var x: boolean; startstate begin x := true; end; invariant \"deep\" {condition};");
        let transcript = quotient_with(["check", "-"], model.as_bytes(), &[]);
        assert!(matches!(transcript.status, Some(0 | 1 | 3)), "{open}: {transcript}");
        assert!(!transcript.stderr.contains("panicked"), "{open}: {transcript}");
    }
}

#[test]
fn huge_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("huge.m");
    let line = "rule \"step\" x ==> begin x := !x; end;\n";
    std::fs::write(&path, line.repeat((40 << 20) / line.len())).expect("the file is written");
    let transcript = quotient(["check".as_ref(), path.as_os_str()]);
    assert_eq!(transcript.status, Some(3), "{transcript}");
    assert!(transcript.stderr.contains("too large"), "{transcript}");
}

#[test]
fn one_long_line() {
    let mut model = "-- ".to_owned() + &"x".repeat(1 << 20) + "\n";
    model.push_str(&" ".repeat(1 << 20));
    model.push_str("var x: nonsense;");
    let transcript = quotient_with(["check", "-"], model.as_bytes(), &[]);
    assert_eq!(transcript.status, Some(3), "{transcript}");
    assert!(transcript.stderr.contains("<stdin>:2:1048584"), "{transcript}");
    assert!(transcript.stderr.len() < 10_000, "{transcript}");
}

#[test]
fn completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let transcript = quotient(["completions", shell]);
        assert_eq!(transcript.status, Some(0), "{transcript}");
        assert!(transcript.stdout.contains("max-memory"), "{transcript}");
    }
}

#[test]
fn manual_page() {
    let transcript = quotient(["man"]);
    assert_eq!(transcript.status, Some(0), "{transcript}");
    for words in [".TH quotient 1", "quotient simulate", "max\\-memory", "inconclusive"] {
        assert!(transcript.stdout.contains(words), "{words}: {transcript}");
    }
}

#[test]
fn help_of_every_command() {
    for command in ["check", "detect", "explore", "simulate", "lower", "completions", "man"] {
        let transcript = quotient([command, "--help"]);
        assert_eq!(transcript.status, Some(0), "{transcript}");
        assert!(transcript.stdout.contains("Usage:"), "{transcript}");
        // A model is needed, and is written in one way.
        assert!(!transcript.stdout.contains("[MODEL]"), "{transcript}");
        assert_eq!(quotient(["help", command]).stdout, transcript.stdout);
        assert!(!quotient([command, "-h"]).stdout.contains("[MODEL]"));
    }
}

#[test]
fn help() {
    let transcript = quotient(["--help"]);
    assert_eq!(quotient(["help"]).stdout, transcript.stdout);
    expect(
        transcript,
        str![[r#"
A model checker: reads a model (Murphi, Promela, classical B, DVE, CSP# or PNML), visits every state
it can reach, up to the symmetries that it finds in the model, and says whether its properties hold.
A violated property comes with a run of the model that shows it.

Usage: quotient <COMMAND>

Commands:
  check            Check every property of a model
  watch            Check a model again whenever its files change
  detect           Find the symmetries of a model, or why there are none
  verify           Check a certificate of symmetries against the text of a model
  explore          Visit the state space without checking properties; count it, export it
  simulate         Run a model, at random or step by step
  lower            Print the sequential model as Murphi
  language-server  Serve an editor on standard input and output, by the language server protocol
  completions      Print a completion script for a shell
  man              Print the manual page
  help             Print this message or the help of the given subcommand(s)

Options:
  -h, --help
          Print help (see a summary with '-h')

  -V, --version
          Print version

Exit status:
  0  every property holds
  1  a property is violated
  2  wrong usage, or a file that cannot be written
  3  the model cannot be read, is invalid or uses something unsupported
  4  inconclusive: a limit was reached first, or a property cannot be checked
  5  an internal error: a defect of quotient, please report it

Environment:
  NO_COLOR  if set and not empty, no colours

Examples:
  quotient check model.m                      check every property
  quotient check -D Processes=4 model.m       the same with another constant
  quotient check --timeout 5m --format json model.m
  quotient detect model.m                     its symmetries
  quotient detect model.m --why-not 'Proc 1 2'
  quotient explore --export graph.dot model.m
  quotient simulate --seed 1 --steps 20 model.m
---- exit status 0

"#]],
    );
    expect(
        quotient(["-h"]),
        str![[r#"
A model checker for Murphi, Promela, classical B, DVE, CSP# and Petri nets that finds the symmetries
of a model by itself

Usage: quotient <COMMAND>

Commands:
  check            Check every property of a model
  watch            Check a model again whenever its files change
  detect           Find the symmetries of a model, or why there are none
  verify           Check a certificate of symmetries against the text of a model
  explore          Visit the state space without checking properties; count it, export it
  simulate         Run a model, at random or step by step
  lower            Print the sequential model as Murphi
  language-server  Serve an editor on standard input and output, by the language server protocol
  completions      Print a completion script for a shell
  man              Print the manual page
  help             Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help (see more with '--help')
  -V, --version  Print version

Exit status: 0 every property holds, 1 a property is violated, 2 wrong usage, 3 the model cannot be
read or is invalid, 4 inconclusive (a limit was reached, or a property cannot be checked), 5 an
internal error.
---- exit status 0

"#]],
    );
}

/// A reader that leaves early is no reason to panic, and the exit status is that of the result.
#[test]
fn closed_reader() {
    for (arguments, status) in [
        (&["check", "counter.m"][..], 0),
        (&["check", "--format", "json", "mutex.m"], 1),
        (&["detect", "mutex.m"], 0),
        (&["detect", "--format", "json", "mutex.m"], 0),
        (&["simulate", "--seed", "1", "--steps", "100000", "counter.m"], 0),
        (&["lower", "counter.m"], 0),
        (&["--help"], 0),
        (&["man"], 0),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_quotient"))
            .args(arguments)
            .current_dir(crate::transcript::models())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert_eq!(stderr, "", "{arguments:?}");
    }
}
