//! When a search takes a part of the steps, and what it then says.

mod transcript;

use transcript::{expect, quotient};

use snapbox::str;

const MAILBOX: &str = "../../../../models/dve/mailbox.dve";

#[test]
fn a_part_of_the_steps_is_tried_beside_a_search() {
    expect(
        quotient(["check", "--symmetry", "off", MAILBOX]),
        str![[r#"
holds

holds      assertion  Receiver_0, Receiver_1: reading
holds      no deadlock
holds      no errors

states       37
partial order  the states represented are not counted
transitions  108
depth        4
time         …
memory       …
---- exit status 0

"#]],
    );
}

/// Counters that end together: more states than fit into any memory, and one order of the steps.
#[test]
fn an_attempt_that_finds_a_violation_is_the_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counters.m");
    let variables: String = (0..9).map(|number| format!("c{number}: 0..{}; ", 40 + number)).collect();
    let starts: String = (0..9).map(|number| format!("c{number} := 0; ")).collect();
    let rule = |number: u32| format!("rule c{number} < {0} ==> c{number} := c{number} + 1; end;\n", 40 + number);
    let rules: String = (0..9).map(rule).collect();
    std::fs::write(&path, format!("var {variables} startstate {starts} end;\n{rules}")).expect("a model");
    let said = quotient(["check", path.to_str().expect("a plain path")]);
    assert_eq!(said.status, Some(1), "{}", said.stdout);
    for part in ["violated: deadlock", "deadlock: no rule can fire here", "partial order  "] {
        assert!(said.stdout.contains(part), "{part} is not in\n{}", said.stdout);
    }
}

#[test]
fn all_steps_are_taken_where_that_is_asked_for() {
    for options in [["--partial-order", "off"], ["--exact-counts", "--no-progress"]] {
        let said = quotient(["check", MAILBOX].into_iter().chain(options));
        assert!(
            said.stdout.contains("states       5,120\n") && !said.stdout.contains("partial order"),
            "{}",
            said.stdout
        );
    }
}

#[test]
fn small_searches_take_all_steps() {
    let said = quotient(["check", "--symmetry", "off", "../../../../models/murphi/peterson.m"]);
    assert!(!said.stdout.contains("partial order"), "{}", said.stdout);
}

#[test]
fn why_all_steps_are_needed() {
    let said = quotient(["check", "--partial-order", "on", "--all-errors", MAILBOX]);
    assert_eq!(said.status, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("only the first violation is preserved"), "{}", said.stderr);
}
