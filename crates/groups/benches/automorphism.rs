//! The automorphism search beside bliss and nauty, on the same graphs in the same run.
//!
//! `cargo bench -p quotient-groups --bench automorphism -- [--quick] [--limit SECONDS] [FAMILY…]`
//!
//! What is timed: ours, the processor time of the call on the graph in memory (the best of several runs). For bliss, the total time
//! that it prints less the time for reading the graph that it prints; the rest includes writing the
//! generators, which it cannot be kept from. dreadnaut prints the processor time of its `x` command, which
//! excludes reading the graph. Peers that are
//! not installed are left out; a peer that exceeds the limit counts as slower.

#![allow(clippy::print_stdout)]

use quotient_groups::graph::families;
use quotient_groups::{ColouredGraph, generators};
use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

type Build = fn(usize) -> ColouredGraph;

const FAMILIES: &[(&str, &[usize], Build)] = &[
    ("election-table", &[8, 10, 12, 15, 17], families::election_table),
    ("election-pairs", &[30, 100, 300, 600], families::election_pairs),
    ("ring", &[100, 1000, 10_000, 60_000], |n| families::ring_model(n, 4)),
    ("hypercube", &[4, 6, 8, 10, 12], families::hypercube_model),
    ("wreath", &[4, 10, 20, 30, 45], |n| families::wreath_model(n, n)),
    ("factors", &[10, 100, 1000, 2000], |n| families::factors_model(n, 12)),
    ("product", &[5, 10, 20, 40], |n| families::product_model(n, n + n / 2)),
    ("rigid-sparse", &[1000, 10_000, 100_000, 1_000_000], |n| families::random(n, 4 * n, 1, 1)),
    ("rigid-coloured", &[1000, 10_000, 100_000, 1_000_000], |n| families::random(n, 3 * n, 50, 1)),
    ("rigid-regular", &[300, 1000, 10_000, 100_000], |n| families::random_regular(n, 4, 1)),
    ("tree", &[8, 12, 16, 19], |n| families::tree(2, n)),
    ("copies", &[10, 100, 1000, 10_000], |n| families::copies(&families::petersen(), n)),
    ("torus", &[10, 30, 100, 300], |n| families::torus(n, n)),
    ("cfi", &[10, 40, 160, 640], |n| families::cai_furer_immerman(n, true)),
    ("plane", &[5, 11, 17, 23], families::projective_plane),
    ("paley", &[101, 401, 1009], families::paley),
    ("cycle", &[1000, 30_000, 1_000_000], families::cycle),
    ("star", &[1000, 30_000, 1_000_000], |n| families::complete_bipartite(1, n)),
    ("shuffled-ring", &[1000, 10_000, 60_000], |n| families::shuffled(&families::ring_model(n, 4), 7)),
    ("shuffled-wreath", &[10, 20, 30], |n| families::shuffled(&families::wreath_model(n, n), 7)),
];

struct Arguments {
    quick: bool,
    limit: u64,
    names: Vec<String>,
}

fn arguments() -> Arguments {
    let mut parsed = Arguments { quick: false, limit: 30, names: Vec::new() };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--quick" => parsed.quick = true,
            "--limit" => parsed.limit = given.next().and_then(|text| text.parse().ok()).unwrap_or(parsed.limit),
            // cargo bench passes this one on.
            "--bench" => {}
            name => parsed.names.push(name.to_owned()),
        }
    }
    parsed
}

/// Runs a peer on a file and gives its output, or `None` when it is missing, fails or takes too long.
fn run_peer(limit: u64, program: &str, arguments: &[&str], input: Option<&std::path::Path>) -> Option<String> {
    let stdin = match input {
        Some(path) => Stdio::from(std::fs::File::open(path).ok()?),
        None => Stdio::null(),
    };
    let output = Command::new("timeout")
        .arg(limit.to_string())
        .arg(program)
        .args(arguments)
        .stdin(stdin)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number after `prefix` in the text.
fn number_after(text: &str, prefix: &str) -> Option<f64> {
    let rest = text[text.find(prefix)? + prefix.len()..].trim_start();
    rest.split_whitespace().next()?.trim_end_matches(';').parse().ok()
}

fn export(path: &std::path::Path, write: impl FnOnce(&mut BufWriter<std::fs::File>) -> std::io::Result<()>) {
    let mut sink = BufWriter::new(std::fs::File::create(path).expect("the temporary directory is writable"));
    write(&mut sink).and_then(|()| sink.flush()).expect("the temporary directory has room");
}

/// The time that this thread has run, as Linux tells it: the peers report processor time too, and other
/// processes should not count. Elsewhere the clock.
fn processor_seconds() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

fn seconds(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

fn main() {
    let arguments = arguments();
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    println!(
        "{:<16} {:>8} {:>9} {:>9} {:>6} {:>6} | {:>8} {:>8} {:>8} {:>8} | {:>6}",
        "family", "size", "nodes", "edges", "gens", "base", "ours", "bliss", "nauty", "Traces", "ratio"
    );
    for (name, sizes, build) in FAMILIES {
        if !arguments.names.is_empty() && !arguments.names.iter().any(|wanted| wanted == name) {
            continue;
        }
        // A peer that gave up once is not asked for larger members of the family.
        let mut asked = [true; 3];
        for &size in if arguments.quick { &sizes[..sizes.len() - 1] } else { sizes } {
            let graph = build(size);
            let (mut best, mut spent, mut runs, mut group) = (f64::INFINITY, 0.0, 0, None);
            // The processor time is only brought up to date every few milliseconds: short runs are averaged.
            while runs == 0 || (spent < 0.2 && runs < 200) {
                let start = processor_seconds();
                group = Some(generators(&graph));
                let elapsed = processor_seconds() - start;
                best = best.min(elapsed);
                spent += elapsed;
                runs += 1;
            }
            if best < 0.02 {
                best = spent / f64::from(runs);
            }
            let group = group.expect("at least one run was made");
            let dimacs = directory.path().join("graph.dimacs");
            export(&dimacs, |sink| graph.write_dimacs(sink));
            let path = dimacs.to_str().expect("a temporary path is text");
            let bliss = asked[0]
                .then(|| run_peer(arguments.limit, "bliss", &["-v=2", path], None))
                .flatten()
                .and_then(|text| Some(number_after(&text, "Total time:")? - number_after(&text, "Graph read in")?));
            asked[0] = bliss.is_some();
            let mut dreadnaut = |index: usize, mode: &str| {
                if !asked[index] {
                    return None;
                }
                let script = directory.path().join("graph.dre");
                export(&script, |sink| {
                    writeln!(sink, "{mode} -a -m")?;
                    graph.write_dreadnaut(sink)?;
                    writeln!(sink, "x q")
                });
                let time = run_peer(arguments.limit, "dreadnaut", &[], Some(&script))
                    .and_then(|text| number_after(&text, "cpu time ="));
                asked[index] = time.is_some();
                time
            };
            let nauty = dreadnaut(1, "As");
            let traces = dreadnaut(2, "At");
            let peer = [bliss, nauty].into_iter().flatten().min_by(f64::total_cmp);
            // The peers print hundredths; below that a ratio means nothing.
            let ratio = peer.map_or("-".to_owned(), |peer| {
                if peer < 0.02 && best < 0.02 { "small".to_owned() } else { format!("{:.2}", best / peer.max(0.005)) }
            });
            println!(
                "{name:<16} {size:>8} {:>9} {:>9} {:>6} {:>6} | {best:>8.4} {:>8} {:>8} {:>8} | {ratio:>6}",
                graph.vertex_count(),
                graph.edge_count(),
                group.generators.len(),
                group.base.len(),
                seconds(bliss),
                seconds(nauty),
                seconds(traces),
            );
        }
    }
}
