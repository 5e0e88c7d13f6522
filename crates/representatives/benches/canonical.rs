//! The cost of a representative, group by group: the chosen canonicalizer on packed states, and the general search
//! compared with GAP's package images, on the same sets of points in the same run.
//!
//! `cargo bench -p quotient-representatives --bench canonical -- [NAME…]`
//!
//! `growth` among the names shows how the time grows with the number of ids that refer to each other. Times are processor times of this thread, the best of several rounds. GAP is the program named by the environment
//! variable `GAP` (arguments are allowed), or `gap`; if it or its package images is missing, the comparison is skipped.
//! Its times are its own, without start-up and parsing.

#![allow(clippy::print_stdout)]

use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use quotient_groups::action::Action;
use quotient_groups::random::Random;
use quotient_groups::{ImageScratch, ImageSearch, PermutationGroup, Point, SparsePermutation};
use quotient_ir::{Layout, SlotId, Source, TableIndex, Valuation};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_representatives::{Canonicalizer, Strategy, Workspace};
use quotient_symmetry::Literals;

/// The processor time of this thread, in seconds.
fn processor_seconds() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

/// The best time of a call in microseconds, over several rounds of many calls.
fn microseconds(calls: usize, mut call: impl FnMut(usize)) -> f64 {
    let mut best = f64::INFINITY;
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || (rounds < 40 && start.elapsed().as_secs_f64() < 0.6) {
        // The kernel updates the time only a few hundred times a second.
        let mut repeats = 0;
        let before = processor_seconds();
        let clock = Instant::now();
        while repeats == 0 || clock.elapsed().as_secs_f64() < 0.03 {
            (0..calls).for_each(&mut call);
            repeats += 1;
        }
        best = best.min((processor_seconds() - before) / (repeats * calls) as f64);
        rounds += 1;
    }
    best * 1e6
}

/// A group of ids, and variables indexed by them and holding them; `D` is the type of ids.
struct Bench {
    name: String,
    ids: usize,
    generators: Vec<Vec<usize>>,
    variables: &'static [(&'static str, usize, Option<usize>)],
}

fn transposition(ids: usize, first: usize, second: usize) -> Vec<usize> {
    let mut images: Vec<usize> = (0..ids).collect();
    images.swap(first, second);
    images
}

fn rotation(ids: usize) -> Vec<usize> {
    (0..ids).map(|id| (id + 1) % ids).collect()
}

fn symmetric(ids: usize) -> Vec<Vec<usize>> {
    vec![transposition(ids, 0, 1), rotation(ids)]
}

/// A full symmetric group inside each of several blocks, which are exchanged freely.
fn wreath(inner: usize, outer: usize) -> Vec<Vec<usize>> {
    let ids = inner * outer;
    let mut generators = vec![transposition(ids, 0, 1)];
    generators.push((0..ids).map(|id| if id < inner { (id + 1) % inner } else { id }).collect());
    for block in [transposition(outer, 0, 1), rotation(outer)] {
        generators.push((0..ids).map(|id| block[id / inner] * inner + id % inner).collect());
    }
    generators
}

/// Rows and columns of a square of ids.
fn matrix(size: usize) -> Vec<Vec<usize>> {
    let mut generators = Vec::new();
    for images in symmetric(size) {
        generators.push((0..size * size).map(|id| images[id / size] * size + id % size).collect());
        generators.push((0..size * size).map(|id| id / size * size + images[id % size]).collect());
    }
    generators
}

fn hypercube(dimensions: usize) -> Vec<Vec<usize>> {
    let nodes = 1 << dimensions;
    let mut generators = vec![(0..nodes).map(|node| node ^ 1).collect::<Vec<usize>>()];
    for bit in 1..dimensions {
        let exchange = |node: usize| {
            let (low, high) = (node & 1, node >> bit & 1);
            node & !(1 | 1 << bit) | high | low << bit
        };
        generators.push((0..nodes).map(exchange).collect());
    }
    generators
}

fn dihedral(ids: usize) -> Vec<Vec<usize>> {
    vec![rotation(ids), (0..ids).map(|id| (ids - id) % ids).collect()]
}

fn affine(prime: usize, root: usize) -> Vec<Vec<usize>> {
    vec![rotation(prime), (0..prime).map(|id| id * root % prime).collect()]
}

fn cycles(ids: usize, text: &str) -> Vec<usize> {
    let permutation = SparsePermutation::parse(text).expect("a permutation");
    (0..ids).map(|id| permutation.image(id as Point) as usize).collect()
}

fn mathieu_12() -> Vec<Vec<usize>> {
    ["(0 1 2 3 4 5 6 7 8 9 10)", "(2 6 10 7)(3 9 4 5)", "(0 11)(1 10)(2 5)(3 7)(4 8)(6 9)"]
        .map(|text| cycles(12, text))
        .to_vec()
}

/// Declarations, the number of ids that index each cell, and whether cells hold values (how many) or ids.
const CONTENTS: &[(&str, usize, Option<usize>)] = &[("array [D] of 0..4", 1, Some(5))];
const BITS: &[(&str, usize, Option<usize>)] = &[("array [D] of boolean", 1, Some(2))];
const BLOCKS: &[(&str, usize, Option<usize>)] =
    &[("array [D] of 0..4", 1, Some(5)), ("array [D] of boolean", 1, Some(2)), ("array [D] of 0..10", 1, Some(11))];
const HOLDERS: &[(&str, usize, Option<usize>)] =
    &[("array [D] of 0..4", 1, Some(5)), ("D", 0, None), ("D", 0, None), ("array [D] of boolean", 1, Some(2))];
const DISTINCT: &[(&str, usize, Option<usize>)] =
    &[("array [D] of 0..255", 1, Some(256)), ("array [D] of 0..255", 1, Some(256)), ("array [D] of D", 1, None)];
const REFERENCES: &[(&str, usize, Option<usize>)] = &[("array [D] of 0..4", 1, Some(5)), ("array [D] of D", 1, None)];

fn benches() -> Vec<Bench> {
    let bench = |name: &str, ids, generators, variables| Bench { name: name.to_owned(), ids, generators, variables };
    vec![
        bench("S15, contents", 15, symmetric(15), CONTENTS),
        bench("S15, three arrays", 15, symmetric(15), BLOCKS),
        bench("S15, holders", 15, symmetric(15), HOLDERS),
        bench("S6 wr S6, contents", 36, wreath(6, 6), CONTENTS),
        bench("C14, contents", 14, vec![rotation(14)], CONTENTS),
        bench("C200, contents", 200, vec![rotation(200)], CONTENTS),
        bench("C200, three arrays", 200, vec![rotation(200)], BLOCKS),
        bench("D14, contents", 14, dihedral(14), CONTENTS),
        bench("D200, contents", 200, dihedral(200), CONTENTS),
        bench("S5, references", 5, symmetric(5), REFERENCES),
        bench("S8, references", 8, symmetric(8), REFERENCES),
        bench("S15, references", 15, symmetric(15), REFERENCES),
        bench("S6 x S6 on a matrix", 36, matrix(6), BITS),
        bench("S10 x S10 on a matrix", 100, matrix(10), BITS),
        bench("cube of 5 dimensions", 32, hypercube(5), BITS),
        bench("cube of 7 dimensions", 128, hypercube(7), BITS),
        bench("AGL(1,31)", 31, affine(31, 3), BITS),
        bench("M12", 12, mathieu_12(), BITS),
    ]
}

impl Bench {
    fn layout(&self) -> Layout {
        let mut text = format!("type D : 0..{};\nvar\n", self.ids - 1);
        for (number, (declaration, ..)) in self.variables.iter().enumerate() {
            writeln!(text, "  v{number} : {declaration};").expect("writing to a string");
        }
        // All variables get values, so that none is undefined otherwise.
        text.push_str("startstate begin clear v0; end;\nrule \"idle\" true ==> begin clear v0; end;\n");
        let loaded = LANGUAGE.load(Source::new(&self.name, text), &LoadOptions::default());
        Layout::new(&loaded.expect("a model").model).expect("few variables")
    }

    fn permutations(&self, layout: &Layout) -> Vec<SparsePermutation> {
        let literals = Literals::of_layout(layout);
        let permutation = |images: &Vec<usize>| {
            let mut moves = Vec::new();
            let mut first = 0;
            for &(_, indices, values) in self.variables {
                let cells = if indices == 1 { self.ids } else { 1 };
                for cell in 0..cells {
                    let image = if indices == 1 { images[cell] } else { cell };
                    let (from, to) = (SlotId::from_position(first + cell), SlotId::from_position(first + image));
                    for &value in &literals.slots()[from].values {
                        let held = if values.is_none() { value.map(|id| images[id as usize] as i64) } else { value };
                        moves.push((
                            literals.point(from, value).expect("a literal"),
                            literals.point(to, held).expect("a literal"),
                        ));
                    }
                }
                first += cells;
            }
            SparsePermutation::from_moves(moves).expect("a permutation")
        };
        self.generators.iter().map(permutation).collect()
    }

    fn states(&self, layout: &Layout, count: usize) -> Vec<Vec<u64>> {
        let literals = Literals::of_layout(layout);
        let mut random = Random::new(7);
        (0..count)
            .map(|_| {
                let values = layout.slots.indices().map(|slot| {
                    let values = &literals.slots()[slot].values;
                    let first = usize::from(values[0].is_none());
                    values[first + random.below(values.len() - first)]
                });
                layout.state(&Valuation(values.collect())).0.to_vec()
            })
            .collect()
    }

    /// Prints the times for a representative.
    fn run(&self) {
        let (random, nearby, preparation, reason) = self.measure();
        println!("{:<24} {random:>10.3} {nearby:>10.3} {preparation:>10.1}   {reason}", self.name);
    }

    /// The times for random states and for representatives with one cell changed in microseconds, that for preparation
    /// in milliseconds, and the method.
    fn measure(&self) -> (f64, f64, f64, String) {
        let layout = self.layout();
        let clock = Instant::now();
        let canonicalizer = Canonicalizer::of_uncertified(&layout, &self.permutations(&layout), Strategy::Canonical)
            .expect("there is a method for every group");
        let preparation = clock.elapsed().as_secs_f64() * 1e3;
        let states = self.states(&layout, 256);
        let mut workspace = Workspace::default();
        let mut state = states[0].clone();
        let random = microseconds(states.len(), |number| {
            state.copy_from_slice(&states[number]);
            canonicalizer.canonicalize(&mut workspace, &mut state);
            std::hint::black_box(&state);
        });
        // The typical request of a search: a representative with one cell changed.
        let near: Vec<Vec<u64>> = states
            .iter()
            .enumerate()
            .map(|(number, state)| {
                let mut state = state.clone();
                canonicalizer.canonicalize(&mut workspace, &mut state);
                let mut valuation = layout.unpack(&state);
                let other = layout.unpack(&states[(number + 1) % states.len()]);
                let cell = number % valuation.0.len();
                valuation.0[cell] = other.0[cell];
                layout.state(&valuation).0.to_vec()
            })
            .collect();
        let nearby = microseconds(near.len(), |number| {
            state.copy_from_slice(&near[number]);
            canonicalizer.canonicalize(&mut workspace, &mut state);
            std::hint::black_box(&state);
        });
        (random, nearby, preparation, canonicalizer.reason().to_owned())
    }
}

/// How the time grows with the number of ids, whose cells refer to each other: with contents that tell them apart, and
/// with few different contents.
fn growth() {
    println!(
        "\n{:<24} {:>10} {:>10} {:>14} {:>14}",
        "S_n, references", "random µs", "near µs", "random/n log n", "near/n log n"
    );
    for (ties, variables) in [("without ties", DISTINCT), ("with ties", REFERENCES)] {
        for ids in [4, 8, 16, 32, 64] {
            let bench = Bench { name: format!("{ids} {ties}"), ids, generators: symmetric(ids), variables };
            let (random, nearby, ..) = bench.measure();
            let scale = ids as f64 * (ids as f64).log2();
            println!(
                "{:<24} {random:>10.3} {nearby:>10.3} {:>14.4} {:>14.4}",
                bench.name,
                random / scale,
                nearby / scale
            );
        }
    }
}

/// The general search and GAP's package images on sets of points.
fn compare(name: &str, ids: usize, generators: &[Vec<usize>], size: usize) {
    let permutations: Vec<SparsePermutation> = generators
        .iter()
        .map(|images| {
            let moves = images.iter().enumerate().map(|(id, &image)| (id as Point, image as Point)).collect();
            SparsePermutation::from_moves(moves).expect("a permutation")
        })
        .collect();
    let group = PermutationGroup::new(ids, permutations.clone());
    let search = ImageSearch::new(&Action::new(ids, permutations), &group.order());
    let mut random = Random::new(3);
    let sets: Vec<Vec<Point>> = (0..60)
        .map(|_| {
            let mut points: Vec<Point> = (0..ids as Point).collect();
            random.shuffle(&mut points);
            points.truncate(size);
            points.sort_unstable();
            points
        })
        .collect();
    let mut scratch = ImageScratch::default();
    let ours = microseconds(sets.len(), |number| {
        search.search(&mut scratch, sets[number].iter().map(|&point| (point, 0)));
        std::hint::black_box(&scratch);
    });
    let peer = gap_microseconds(&group, &sets);
    match peer {
        Some(peer) => println!("{name:<24} {ours:>10.2} {peer:>10.0} {:>8.0}", peer / ours),
        None => println!("{name:<24} {ours:>10.2} {:>10} {:>8}", "-", "-"),
    }
}

fn gap_microseconds(group: &PermutationGroup, sets: &[Vec<Point>]) -> Option<f64> {
    let mut program = String::from("if LoadPackage(\"images\") = fail then QUIT_GAP(1); fi;\n");
    program.push_str(&group.to_gap("G"));
    program.push_str("sets := [\n");
    for set in sets {
        let points: Vec<String> = set.iter().map(|point| (point + 1).to_string()).collect();
        writeln!(program, "  [{}],", points.join(",")).ok()?;
    }
    // The first call prepares the group.
    program.push_str(
        "];;\nCanonicalImage(G, sets[1], OnSets);;\nstart := Runtime();;\nfor set in sets do CanonicalImage(G, set, OnSets); od;\n",
    );
    program
        .push_str("Print(\"microseconds \", Int((Runtime() - start) * 1000 / Length(sets)), \"\\n\");\nQUIT_GAP(0);\n");
    let file = std::env::temp_dir().join(format!("quotient-images-{}.g", std::process::id()));
    std::fs::write(&file, program).ok()?;
    let command = std::env::var("GAP").unwrap_or_else(|_| "gap".to_owned());
    let mut words = command.split_whitespace();
    let output =
        Command::new("timeout").arg("120").arg(words.next()?).args(words).args(["-q", "-b"]).arg(&file).output().ok();
    std::fs::remove_file(&file).ok();
    let text = String::from_utf8_lossy(&output?.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("microseconds ")?.trim().parse().ok())
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| name.contains(wanted.as_str()));
    println!("{:<24} {:>10} {:>10} {:>10}", "canonicalizer", "random µs", "near µs", "prepare ms");
    for bench in benches().iter().filter(|bench| is_wanted(&bench.name)) {
        bench.run();
    }
    if is_wanted("growth") {
        growth();
    }
    println!("\n{:<24} {:>10} {:>10} {:>8}", "general search", "ours µs", "images µs", "ratio");
    for (name, ids, generators, size) in [
        ("search S15", 15, symmetric(15), 7),
        ("search S6 wr S6", 36, wreath(6, 6), 18),
        ("search C200", 200, vec![rotation(200)], 100),
        ("search S6 x S6", 36, matrix(6), 18),
        ("search cube 5", 32, hypercube(5), 16),
        ("search AGL(1,31)", 31, affine(31, 3), 15),
        ("search M12", 12, mathieu_12(), 6),
    ] {
        if is_wanted(name) {
            compare(name, ids, &generators, size);
        }
    }
}
