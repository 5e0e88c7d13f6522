//! DVE models at the command line: runs in terms of processes and their states, conditions, symmetries, and what is
//! refused.

use crate::transcript::{Transcript, quotient};

const LOCK: &str = "../../../../models/dve/lock_server.dve";

/// The program says all of these, in any order, and ends with this status.
#[track_caller]
fn check(said: &Transcript, status: i32, parts: &[&str]) {
    let all = format!("{}{}", said.stdout, said.stderr);
    for part in parts {
        assert!(all.contains(part), "`{part}` is not in\n{all}");
    }
    assert_eq!(said.status, Some(status), "{all}");
}

#[test]
fn conditions_from_the_command_line() {
    let said = quotient(["check", LOCK, "--invariant", "holder != 1", "--reach", "Client_0.critical"]);
    check(
        &said,
        1,
        &[
            "violated: invariant \"holder != 1\"",
            " 1  Rule \"Client_1: idle → waiting\"\n      Client_1: idle → waiting\n",
            " 2  Rule \"Client_1: waiting → critical with Server: free → taken over ask\"\n      holder: 255 → 1\n",
            "    --invariant:1:1\n    1 | holder != 1\n",
            "cover      Client_0.critical\n",
        ],
    );
    let said = quotient(["check", LOCK, "--reach", "Client_0.critical", "--reach", "inside == 2"]);
    check(&said, 1, &["violated: cover \"inside == 2\"", "holds      cover      Client_0.critical\n"]);
    let said = quotient(["check", LOCK, "--invariant", "inside <= 1"]);
    check(&said, 0, &["symmetries   24, S4", "holds      invariant  inside <= 1\n", "representing 80 "]);
}

#[test]
fn conditions_in_every_language() {
    let promela = "../../../../models/promela/peterson.pml";
    let said = quotient(["check", promela, "--invariant", "inside <= 1", "--reach", "inside == 1"]);
    check(&said, 0, &["holds      invariant  inside <= 1\n", "holds      cover      inside == 1\n"]);
    let said = quotient(["check", promela, "--reach", "inside == 2"]);
    check(&said, 1, &["violated: cover \"inside == 2\""]);
    let murphi = "../../../../models/murphi/peterson.m";
    let said = quotient(["check", murphi, "--invariant", "true", "--reach", "false"]);
    check(&said, 1, &["violated: cover \"false\""]);
    let lift = "../../../../models/b/Lift.mch";
    // A conjunction is to be reached as a whole, and not in the root.
    let said = quotient([
        "check",
        lift,
        "--reach",
        "door = open & door = closed",
        "--invariant",
        "floor : FLOORS & calls <: FLOORS",
    ]);
    check(
        &said,
        1,
        &["violated: cover \"door = open & door = closed\"", "invariant  floor : FLOORS & calls <: FLOORS\n"],
    );
}

#[test]
fn symmetries() {
    let said = quotient(["detect", LOCK, "--why-not", "Client_0 Server"]);
    check(&said, 0, &["symmetries: 24, S4", "`Client_0` can be critical, but `Server` can never be critical"]);
}

#[test]
fn random_runs() {
    let said = quotient(["simulate", LOCK, "--steps", "2", "--seed", "3"]);
    check(&said, 0, &["Rule \"Client_", "2 steps, nothing violated"]);
}

#[test]
fn the_automaton_of_a_property() {
    let said = quotient(["check", "property.dve"]);
    check(&said, 0, &["holds      temporal   Finally_b\n"]);
    // The system stops, the automaton does not.
    let said = quotient(["check", "--deadlock", "off", "stops.dve"]);
    check(
        &said,
        1,
        &[
            "violated: temporal \"Stays\"",
            "    nothing can happen here: the run stays in this state forever\n",
            "violated   temporal   Stays\n",
        ],
    );
}

#[test]
fn what_is_refused() {
    let said = quotient(["check", LOCK, "-D", "NOBODY=3"]);
    check(&said, 3, &["error[no-such-constant]: `NOBODY` cannot be overridden"]);
    let said = quotient(["check", LOCK, "--reach", "Client_0.crtical and hldr == 3"]);
    check(&said, 3, &["--> --reach:1:10", "did you mean `critical`?", "--> --reach:1:22", "did you mean `holder`?"]);
    let said = quotient(["check", LOCK, "--ltl", "[] (Client_0.crtical -> <> hldr == 3)", "--ctl", "AG EF hldr"]);
    check(&said, 3, &["--> --ltl:1:14", "did you mean `critical`?", "--> --ltl:1:28", "--> --ctl:1:7"]);
    let said = quotient(["check", LOCK, "--ltl", "Client_0.critical untill holder == 1"]);
    check(&said, 3, &["--> --ltl:1:19", "did you mean `until` instead of `untill`?"]);
    let said = quotient(["check", LOCK, "--reach", "true; byte x"]);
    check(&said, 3, &["error[reach]: a condition to reach is a single expression"]);
}
