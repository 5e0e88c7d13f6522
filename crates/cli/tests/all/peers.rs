//! Exported graphs and groups, given to bliss, nauty and GAP where they are installed: the orders
//! they find are ours.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::transcript::quotient;
use quotient_groups::{ColouredGraph, GraphBuilder, generators};
use quotient_testkit::prerequisites::{Prerequisite, require_or_skip};

/// Models with constants: all kinds of groups, up to moderate size.
const MODELS: &[(&str, &[&str])] = &[
    ("token_circulation", &["N=3"]),
    ("token_circulation", &["N=8"]),
    ("readers_writers", &["READERS=3", "WRITERS=2"]),
    ("peterson", &["N=5"]),
    ("resource_allocator", &["A=3", "B=3", "C=4"]),
    ("three_tiered", &["A=4", "B=4", "C=3"]),
    ("hypercube", &["D=4"]),
    ("dining_philosophers", &["N=20"]),
    ("milner_scheduler", &["N=10"]),
    ("two_hop_colouring", &["N=5"]),
    ("leader_election_complete", &["N=15"]),
    ("leader_election_tree", &["N=15"]),
    ("leader_election_ring", &["N=12"]),
    ("hanoi", &["DISCS=4"]),
    ("social_golfer", &["GROUPS=2", "SIZE=2", "WEEKS=3"]),
    ("german", &["N=3"]),
    ("lock_server", &["N=3"]),
];

/// Runs a program on a file as its input; `None` if the comparison is to be skipped because it is not
/// installed or crashes.
fn run(program: &str, arguments: &[&str], input: Option<&Path>) -> Option<String> {
    let input = input.map_or_else(Stdio::null, |path| File::open(path).expect("the export is there").into());
    let output = Command::new(program).args(arguments).stdin(input).stderr(Stdio::null()).output();
    let answer = output.map_err(|error| format!("{program} does not start: {error}")).and_then(|output| {
        if output.status.code().is_some() { Ok(output) } else { Err(format!("{program} ended with {}", output.status)) }
    });
    let output = require_or_skip(Prerequisite::Peer, "exported graphs and groups against peers", answer)?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The first word after a text.
fn after<'t>(text: &'t str, prefix: &str) -> &'t str {
    let start = text.find(prefix).map_or(text.len(), |found| found + prefix.len());
    text[start..].split([';', '\n', ' ']).find(|word| !word.trim().is_empty()).unwrap_or("").trim()
}

/// Reads the DIMACS format as bliss does.
fn read_dimacs(text: &str) -> ColouredGraph {
    let mut colours = Vec::new();
    let mut edges = Vec::new();
    for line in text.lines() {
        let numbers: Vec<u32> = line.split(' ').skip(1).filter_map(|word| word.parse().ok()).collect();
        match line.as_bytes()[0] {
            b'p' => colours = vec![0; numbers[0] as usize],
            b'n' => colours[numbers[0] as usize - 1] = numbers[1],
            _ => edges.push((numbers[0] - 1, numbers[1] - 1)),
        }
    }
    let mut builder = GraphBuilder::new();
    for colour in colours {
        builder.add_vertex(colour);
    }
    for (left, right) in edges {
        builder.add_edge(left, right);
    }
    builder.build().expect("the export is a graph")
}

/// Exports a model's symmetry; gives the order that we found.
fn export(model: &str, constants: &[&str], path: &Path) -> String {
    let model = format!("../../../../models/murphi/{model}.m");
    let mut arguments = vec!["detect", "--format", "json", "--export", path.to_str().expect("a name"), &model];
    for definition in constants {
        arguments.extend(["-D", definition]);
    }
    let transcript = quotient(arguments);
    assert_eq!(transcript.status, Some(0), "{transcript}");
    after(&transcript.stdout, "\"order\":\"").split('"').next().expect("an order").to_owned()
}

#[test]
fn groups_have_the_order_that_gap_finds() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut paths = Vec::new();
    let mut orders = Vec::new();
    for (number, (model, constants)) in MODELS.iter().enumerate() {
        let path = folder.path().join(format!("{number}.g"));
        orders.push(export(model, constants, &path));
        paths.push(path.to_str().expect("a name").to_owned());
    }
    // One run for all: it takes its time to start.
    let arguments: Vec<&str> = std::iter::once("-q").chain(paths.iter().map(String::as_str)).collect();
    let Some(said) = run("gap", &arguments, None) else { return };
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said, orders, "{MODELS:?}");
}

#[test]
fn graphs_have_as_many_automorphisms_as_bliss_finds() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.dimacs");
    for (model, constants) in MODELS {
        export(model, constants, &path);
        let graph = read_dimacs(&std::fs::read_to_string(&path).expect("the export is there"));
        let Some(said) = run("bliss", &["-v=1", path.to_str().expect("a name")], None) else { return };
        assert_eq!(after(&said, "|Aut|:"), generators(&graph).order().to_string(), "{model} {constants:?}");
    }
}

#[test]
fn graphs_have_as_many_automorphisms_as_nauty_finds() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, same) = (folder.path().join("graph.dre"), folder.path().join("graph.dimacs"));
    for (model, constants) in MODELS {
        export(model, constants, &path);
        export(model, constants, &same);
        let graph = read_dimacs(&std::fs::read_to_string(&same).expect("the export is there"));
        let order = generators(&graph).order().to_string();
        let Some(said) = run("dreadnaut", &[], Some(&path)) else { return };
        let said = after(&said, "grpsize=");
        // Large orders are printed in floating point.
        match said.split_once('e') {
            None => assert_eq!(said, order, "{model} {constants:?}"),
            Some((mantissa, exponent)) => {
                let leading: f64 = format!("{}.{}", &order[..1], &order[1..8]).parse().expect("a number");
                assert_eq!(exponent.parse(), Ok(order.len() - 1), "{model} {constants:?}");
                assert!((leading - mantissa.parse::<f64>().expect("a number")).abs() < 1e-3, "{model}: {said} {order}");
            }
        }
    }
}
