//! When a search takes a part of the steps, and what it then says.

use std::path::Path;

use crate::transcript::{expect, quotient};
use quotient_testkit::prerequisites::{Prerequisite, require_or_skip};

use snapbox::str;

const MAILBOX: &str = "../../../../models/dve/mailbox.dve";

/// Counters that begin again together: 32,768 states, and one order of the steps.
#[test]
fn a_part_of_the_steps_is_tried_beside_a_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rounds.m");
    let each = |text: &str| (0..5).map(|number| text.replace('#', &number.to_string())).collect::<String>();
    let text = format!(
        "var {} startstate {} end; {} rule {} true ==> {} end;",
        each("c#: 0..7; "),
        each("c# := 0; "),
        each("rule c# < 7 ==> c# := c# + 1; end; "),
        each("c# = 7 & "),
        each("c# := 0; ")
    );
    std::fs::write(&path, text).expect("a model");
    expect(
        quotient(["check", "--symmetry", "off", path.to_str().expect("a plain path")]),
        str![[r#"
holds

holds      no deadlock
holds      no errors

states       1
partial order  the states represented are not counted
transitions  36
depth        0
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

/// Examples of Debian's package `spin`: what its verifier stores by default, and what a check does.
#[test]
fn fewer_states_than_spin_by_default() {
    let folder = Path::new("/usr/share/doc/spin/examples/Examples");
    let folder = if folder.is_dir() { Ok(folder) } else { Err("the examples of Debian's package are not installed") };
    let Some(folder) = require_or_skip(Prerequisite::Peer, "examples of SPIN by default", folder) else { return };
    for (name, spin, states) in [
        ("sort.pml", 135, "23"),
        ("leader0.pml", 97, "4"),
        ("LTL/leader.pml", 14_122, "202"),
        ("LTL/pftp.pml", 47_356, "11,635"),
        ("dtp.pml", 44_363, "9,775"),
        ("snoopy.pml", 1_249, "671"),
    ] {
        let path = folder.join(name);
        let path = path.to_str().expect("a plain path");
        let said = quotient(["check", path, "--property", "deadlock", "--property", "errors"]);
        let expected = format!("\nstates       {states}\n");
        assert!(said.stdout.contains(&expected), "{name}: {states} states expected, SPIN has {spin}\n{}", said.stdout);
        assert!(states.replace(',', "").parse::<u32>().is_ok_and(|states| states <= spin), "{name}");
    }
}

/// TopSPIN's peterson has 494 states with three processes and 3,106 with four, with symmetries and SPIN's partial order.
#[test]
fn fewer_states_than_with_ample_sets_and_symmetries() {
    for (processes, states) in [("N=3", "states       122"), ("N=4", "states       653")] {
        let model = "../../../../bench/models/promela/filter_5.pml";
        let options = ["-D", processes, "--partial-order", "on", "--reduction", "canonical"];
        let said = quotient(["check", model].into_iter().chain(options));
        assert!(said.stdout.contains(states), "{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn why_all_steps_are_needed() {
    let said = quotient(["check", "--partial-order", "on", "--all-errors", MAILBOX]);
    assert_eq!(said.status, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("only the first violation is preserved"), "{}", said.stderr);
}

/// Four counters, and a flag that is set at the end of one of them.
fn counters() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counters.m");
    let variables: String = (0..4).map(|number| format!("c{number}: 0..20; ")).collect();
    let starts: String = (0..4).map(|number| format!("c{number} := 0; ")).collect();
    let rule = |number: u32| format!("rule c{number} < 20 ==> c{number} := c{number} + 1; end;\n");
    let rules: String = (0..4).map(rule).collect();
    let last = "rule c0 = 20 & !done ==> done := true; end;\nrule c0 = 20 & done ==> end;\n";
    let text = format!("var {variables} done: boolean; startstate {starts} done := false; end;\n{rules}{last}");
    std::fs::write(&path, text).expect("a model");
    let path = path.to_str().expect("a plain path").to_owned();
    (folder, path)
}

#[test]
fn formulas_with_a_part_of_the_steps() {
    let (_folder, path) = counters();
    let formula = ["check", "--property", "<> done", "--ltl", "<> done", "--ltl", "[] (done -> c0 = 20)"];
    let said = quotient(formula.into_iter().chain(["--partial-order", "on", &path]));
    assert_eq!(said.status, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("partial order with 82 states"), "{}", said.stdout);
    // The search of the states is what tells that there are many.
    let said = quotient(["check", "--deadlock", "off", "--ltl", "<> done", "--ltl", "<> (c0 = 20 & X done)", &path]);
    assert_eq!(said.status, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("partial order with 82 states"), "{}", said.stdout);
    let reason = "without partial order: it distinguishes runs by how often a state is repeated";
    assert!(said.stdout.contains(reason), "{}", said.stdout);
}

#[test]
fn formulas_that_need_all_steps() {
    let (_folder, path) = counters();
    for (options, reason) in [
        (["--ltl", "<> (done & X done)"], "it distinguishes runs by how often a state is repeated"),
        (["--ctl", "AG EF done"], "what branches off a run needs all steps"),
    ] {
        let said = quotient(["check", "--partial-order", "on"].into_iter().chain(options).chain([&path[..]]));
        assert_eq!(said.status, Some(2), "{}{}", said.stdout, said.stderr);
        assert!(said.stderr.contains(reason), "{}", said.stderr);
    }
    let said = quotient(["check", "--partial-order", "on", "--ltl", "<> done", "--fairness", "weak", &path]);
    assert_eq!(said.status, Some(2), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("whether a run is fair depends on steps that are left out"), "{}", said.stderr);
}

#[test]
fn exploring_with_a_part_of_the_steps() {
    let (folder, path) = counters();
    let graph = folder.path().join("graph.dot");
    let said = quotient(["explore", &path]);
    assert!(said.stdout.contains("initial"), "{}", said.stdout);
    let said = quotient(["explore", "--partial-order", "on", &path]);
    assert_eq!(said.status, Some(0), "{}{}", said.stdout, said.stderr);
    for part in ["complete", "partial order  the states represented are not counted"] {
        assert!(said.stdout.contains(part) && !said.stdout.contains("initial"), "{}", said.stdout);
    }
    let file = graph.to_str().expect("a plain path");
    let said = quotient(["explore", "--partial-order", "on", "--export", file, &path]);
    assert_eq!(said.status, Some(2), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("the graph needs all steps"), "{}", said.stderr);
    assert!(!graph.exists(), "nothing is written");
}
