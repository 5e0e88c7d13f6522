//! The automorphism search, compared with bliss and nauty on exported graphs, if they are installed.

use num_bigint::BigUint;
use quotient_groups::graph::families;
use quotient_groups::{ColouredGraph, generators};
use quotient_testkit::prerequisites::{Prerequisite, require_or_skip};
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a program on the given input; `None` if the comparison should be skipped because it is not installed.
fn run(program: &str, arguments: &[&str], input: &[u8]) -> Option<String> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let found = child.map_err(|error| format!("{program} does not start: {error}"));
    let mut child = require_or_skip(Prerequisite::Peer, "automorphisms against bliss and nauty", found)?;
    let mut stdin = child.stdin.take().expect("the input is piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("the program runs");
    writer.join().expect("writing does not panic").expect("the program reads its input");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn after<'t>(text: &'t str, prefix: &str) -> &'t str {
    let start = text.find(prefix).map_or(text.len(), |found| found + prefix.len());
    text[start..].split([';', '\n', ' ']).find(|word| !word.trim().is_empty()).unwrap_or("").trim()
}

fn bliss_order(graph: &ColouredGraph) -> Option<BigUint> {
    let mut text = Vec::new();
    graph.write_dimacs(&mut text).unwrap();
    let output = run("bliss", &["-v=1"], &text)?;
    Some(after(&output, "|Aut|:").parse().expect("bliss prints the order"))
}

/// nauty prints large orders in floating point: the first digits and the exponent.
fn nauty_order(graph: &ColouredGraph, mode: &str) -> Option<String> {
    let mut text = Vec::new();
    writeln!(text, "{mode} -a -m").unwrap();
    graph.write_dreadnaut(&mut text).unwrap();
    writeln!(text, "x q").unwrap();
    Some(after(&run("dreadnaut", &[], &text)?, "grpsize=").to_owned())
}

fn check(name: &str, graph: &ColouredGraph) {
    let order = generators(graph).order();
    if let Some(expected) = bliss_order(graph) {
        assert_eq!(order, expected, "{name}: bliss");
    }
    for mode in ["As", "At"] {
        if let Some(expected) = nauty_order(graph, mode) {
            let digits = order.to_string();
            if expected.contains('e') {
                let (mantissa, exponent) = expected.split_once('e').expect("just looked");
                let leading: f64 = format!("{}.{}", &digits[..1], &digits[1..8]).parse().unwrap();
                assert_eq!(exponent.parse::<usize>().unwrap(), digits.len() - 1, "{name}: {mode} {expected} {digits}");
                assert!(
                    (leading - mantissa.parse::<f64>().unwrap()).abs() < 1e-3,
                    "{name}: {mode} {expected} {digits}"
                );
            } else {
                assert_eq!(digits, expected, "{name}: {mode}");
            }
        }
    }
}

#[test]
fn orders_agree_with_bliss_and_nauty() {
    for (name, graph) in [
        ("wreath", families::wreath_model(5, 4)),
        ("ring", families::ring_model(30, 4)),
        ("hypercube", families::hypercube_model(6)),
        ("election table", families::election_table(9)),
        ("election pairs", families::election_pairs(12)),
        ("factors", families::factors_model(6, 4)),
        ("product", families::product_model(4, 5)),
        ("plane", families::projective_plane(5)),
        ("Kneser", families::kneser(8, 3)),
        ("Latin square 8", families::latin_square(8)),
        ("Latin square 11", families::latin_square(11)),
        ("plane 11", families::projective_plane(11)),
        ("CFI", families::cai_furer_immerman(9, true)),
        ("torus", families::torus(6, 6)),
        ("rigid", families::random_regular(200, 4, 5)),
        ("tree", families::tree(3, 3)),
        ("copies", families::copies(&families::random_regular(14, 4, 9), 5)),
    ] {
        check(name, &graph);
        check(&format!("shuffled {name}"), &families::shuffled(&graph, 4));
    }
    for seed in 0..60 {
        let vertices = 10 + seed as usize * 3;
        check("random", &families::random(vertices, vertices + seed as usize / 2, 1 + (seed % 3) as u32, seed));
    }
}
