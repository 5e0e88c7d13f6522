//! Transcripts of `quotient check --every`: claims about all values of a constant.

mod transcript;

use snapbox::str;
use transcript::{expect, quotient};

const MODELS: &str = "../../../../models/murphi";

fn every(model: &str, arguments: &[&str]) -> transcript::Transcript {
    let path = format!("{MODELS}/{model}");
    quotient([&["check", "--every", "N", &path], arguments].concat())
}

#[test]
fn a_protocol_for_every_number_of_caches() {
    expect(every("every/synapse.m", &[]), str![[""]]);
}

#[test]
fn the_smallest_number_with_a_violation() {
    expect(every("every/moesi.m", &["-D", "WRONG=1"]), str![[""]]);
}

#[test]
fn shared_variables_that_name_processes() {
    expect(every("every/dijkstra.m", &["--property", "mutual exclusion"]), str![[""]]);
}

#[test]
fn an_order_between_processes_is_refused() {
    expect(every("bakery.m", &[]), str![[""]]);
}

#[test]
fn counting_is_refused() {
    expect(every("mesi.m", &["--property", "coherence"]), str![[""]]);
}

#[test]
fn liveness_is_refused() {
    expect(every("lock_server.m", &[]), str![[""]]);
}

#[test]
fn options_that_are_refused() {
    expect(every("every/msi.m", &["--property", "deadlock"]), str![[""]]);
    expect(every("every/msi.m", &["--engine", "sat"]), str![[""]]);
    expect(every("every/msi.m", &["--max-states", "5"]), str![[""]]);
    expect(every("every/msi.m", &["--format", "junit"]), str![[""]]);
    let path = format!("{MODELS}/every/msi.m");
    expect(quotient(["check", "--every", "M", &path]), str![[""]]);
    expect(quotient(["check", "--every", "N=0", &path]), str![[""]]);
    expect(quotient(["check", "--every", "WRONG", &path]), str![[""]]);
}
