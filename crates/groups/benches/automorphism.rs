//! The automorphism search compared with bliss and nauty, on the same graphs in the same run.
//!
//! `cargo bench -p quotient-groups --bench automorphism -- [--quick] [--limit SECONDS] [--traces] [FAMILY…]`
//!
//! What is timed: for our search, the processor time of the call on the graph in memory. For bliss, the total time that
//! it prints minus the time it prints for reading the graph; the rest includes writing the generators, which cannot be
//! disabled. dreadnaut prints the processor time of its `x` command, which excludes reading the graph. For short runs,
//! the best of three counts, for our search and for each peer.
//!
//! The limit is in seconds of processor time, including reading the graph, so that other programs on the machine do not
//! make a peer time out. A peer that exceeds it is shown as `>30`, and the ratio as an upper bound; it is not run on
//! larger members of the family, which are shown as `..`. A peer that is not installed is shown as `absent`, and one
//! that fails (out of memory, say) as `failed`. Traces runs only with --traces, and does not count for the ratio.

#![allow(clippy::print_stdout)]

use quotient_groups::graph::families;
use quotient_groups::{ColouredGraph, generators};
use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

type Build = fn(usize) -> ColouredGraph;

const FAMILIES: &[(&str, &[usize], Build)] = &[
    ("election-table", &[8, 10, 12, 15, 17, 19], families::election_table),
    ("election-pairs", &[30, 100, 200, 300, 700], families::election_pairs),
    ("ring", &[100, 1000, 10_000, 60_000], |n| families::ring_model(n, 4)),
    ("hypercube", &[4, 6, 8, 10, 12, 14], families::hypercube_model),
    ("wreath", &[4, 10, 20, 30, 45, 70], |n| families::wreath_model(n, n)),
    ("factors", &[10, 100, 1000, 2000, 5000], |n| families::factors_model(n, 12)),
    ("product", &[5, 10, 20, 40, 80, 200], |n| families::product_model(n, n + n / 2)),
    ("rigid-sparse", &[1000, 10_000, 100_000, 1_000_000], |n| families::random(n, 4 * n, 1, 1)),
    ("rigid-coloured", &[1000, 10_000, 100_000, 1_000_000], |n| families::random(n, 3 * n, 50, 1)),
    ("rigid-regular", &[300, 1000, 10_000, 100_000, 500_000], |n| families::random_regular(n, 4, 1)),
    ("tree", &[8, 12, 16, 19], |n| families::tree(2, n)),
    ("copies", &[10, 100, 1000, 10_000], |n| families::copies(&families::petersen(), n)),
    ("torus", &[10, 30, 100, 300, 1000], |n| families::torus(n, n)),
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
    traces: bool,
    limit: u64,
    names: Vec<String>,
}

fn arguments() -> Arguments {
    let mut parsed = Arguments { quick: false, traces: false, limit: 30, names: Vec::new() };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--quick" => parsed.quick = true,
            "--traces" => parsed.traces = true,
            "--limit" => parsed.limit = given.next().and_then(|text| text.parse().ok()).unwrap_or(parsed.limit),
            // cargo bench passes this argument on.
            "--bench" => {}
            name => parsed.names.push(name.to_owned()),
        }
    }
    parsed
}

/// The outcome of a peer.
#[derive(Clone, Copy, PartialEq)]
enum Peer {
    /// Finished, in seconds of processor time.
    Finished(f64),
    /// Exceeded the limit.
    TooLong,
    /// Not run: a smaller member of the family took too long or failed.
    NotAsked,
    /// Ended in another way.
    Failed,
    /// Not installed.
    Absent,
}

impl Peer {
    fn shown(self, limit: u64) -> String {
        match self {
            Self::Finished(seconds) => format!("{seconds:.3}"),
            Self::TooLong => format!(">{limit}"),
            Self::NotAsked => "..".to_owned(),
            Self::Failed => "failed".to_owned(),
            Self::Absent => "absent".to_owned(),
        }
    }

    /// A lower bound on its seconds, and whether it is exact.
    fn seconds(self, limit: u64) -> Option<(f64, bool)> {
        match self {
            Self::Finished(seconds) => Some((seconds, true)),
            // Larger graphs take at least as long.
            Self::TooLong | Self::NotAsked => Some((limit as f64, false)),
            Self::Failed | Self::Absent => None,
        }
    }
}

/// Runs a peer on a file, several times if it is fast; `time` finds the seconds in its output.
fn ask(
    limit: u64,
    program: &str,
    arguments: &[&str],
    input: Option<&std::path::Path>,
    time: impl Fn(&str) -> Option<f64>,
) -> Peer {
    let run = || {
        let stdin = match input {
            Some(path) => Stdio::from(std::fs::File::open(path).ok()?),
            None => Stdio::null(),
        };
        let script = "ulimit -t \"$0\"; exec \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, &limit.to_string(), program]).args(arguments).stdin(stdin).stderr(Stdio::null());
        command.output().ok()
    };
    let mut best = Peer::Failed;
    for _ in 0..3 {
        let Some(output) = run() else { return Peer::Failed };
        let Some(seconds) = time(&String::from_utf8_lossy(&output.stdout)).filter(|_| output.status.success()) else {
            return match output.status.code() {
                // Ended by the signal sent at the limit.
                None => Peer::TooLong,
                Some(127) => Peer::Absent,
                Some(_) => Peer::Failed,
            };
        };
        best = match best {
            Peer::Finished(known) => Peer::Finished(known.min(seconds)),
            _ => Peer::Finished(seconds),
        };
        if seconds > 2.0 {
            break;
        }
    }
    best
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

/// The processor time of this thread, as reported by Linux: the peers report processor time too, and other processes
/// should not count. On other systems, wall-clock time.
fn processor_seconds() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

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
        // A peer that timed out once is not run on larger members of the family.
        let mut asked = [true, true, arguments.traces];
        for &size in if arguments.quick { &sizes[..sizes.len() - 1] } else { sizes } {
            let graph = build(size);
            let (mut best, mut spent, mut runs, mut group) = (f64::INFINITY, 0.0, 0, None);
            // The processor time is only updated every few milliseconds, so short runs are averaged.
            while runs == 0 || (spent < 0.2 && runs < 200) || (runs < 3 && best < 2.0) {
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
            let limit = arguments.limit;
            let mut ask_once = |index: usize, ask: &dyn Fn() -> Peer| {
                let peer = if asked[index] { ask() } else { Peer::NotAsked };
                asked[index] &= matches!(peer, Peer::Finished(_));
                peer
            };
            let bliss = ask_once(0, &|| {
                ask(limit, "bliss", &["-v=2", path], None, |text| {
                    Some(number_after(text, "Total time:")? - number_after(text, "Graph read in")?)
                })
            });
            let dreadnaut = |mode: &str| {
                let script = directory.path().join("graph.dre");
                export(&script, |sink| {
                    writeln!(sink, "{mode} -a -m")?;
                    graph.write_dreadnaut(sink)?;
                    writeln!(sink, "x q")
                });
                ask(limit, "dreadnaut", &[], Some(&script), |text| number_after(text, "cpu time ="))
            };
            let nauty = ask_once(1, &|| dreadnaut("As"));
            let traces = ask_once(2, &|| dreadnaut("At"));
            let faster = [bliss, nauty].into_iter().filter_map(|peer| peer.seconds(limit));
            // The peers print hundredths of a second; below that a ratio is meaningless.
            let ratio = match faster.min_by(|left, right| left.0.total_cmp(&right.0)) {
                None => "-".to_owned(),
                Some((peer, _)) if peer < 0.02 && best < 0.02 => "small".to_owned(),
                Some((peer, true)) => format!("{:.2}", best / peer.max(0.005)),
                Some((peer, false)) => format!("<{:.2}", best / peer),
            };
            println!(
                "{name:<16} {size:>8} {:>9} {:>9} {:>6} {:>6} | {best:>8.4} {:>8} {:>8} {:>8} | {ratio:>6}",
                graph.vertex_count(),
                graph.edge_count(),
                group.generators.len(),
                group.base.len(),
                bliss.shown(limit),
                nauty.shown(limit),
                if arguments.traces { traces.shown(limit) } else { "-".to_owned() },
            );
        }
    }
}
