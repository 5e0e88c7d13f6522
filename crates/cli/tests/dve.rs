//! DVE models at the command line.

mod transcript;

use snapbox::str;
use transcript::{expect, quotient};

const LOCK: &str = "../../../../models/dve/lock_server.dve";
const PHILOSOPHERS: &str = "../../../../models/dve/philosophers.dve";

#[test]
fn a_check_with_conditions() {
    expect(quotient(["check", LOCK, "--invariant", "holder != 1", "--reach", "Client_0.critical"]), str![[""]]);
}

#[test]
fn a_deadlock() {
    expect(quotient(["check", PHILOSOPHERS]), str![[""]]);
}

#[test]
fn symmetries() {
    expect(quotient(["detect", LOCK, "--why-not", "Client_0 Server"]), str![[""]]);
}

#[test]
fn steps() {
    expect(quotient(["simulate", LOCK, "--steps", "4", "--seed", "3"]), str![[""]]);
}

#[test]
fn the_automaton_of_a_property_is_unsupported() {
    expect(quotient(["check", "property.dve"]), str![[""]]);
}

#[test]
fn constants_are_fixed() {
    expect(quotient(["check", LOCK, "-D", "NOBODY=3"]), str![[""]]);
}

#[test]
fn a_wrong_condition() {
    expect(quotient(["check", LOCK, "--reach", "Client_0.crtical and hldr == 3"]), str![[""]]);
}
