//! Orders, orbits, names and membership at the degrees of large models.
//!
//! `cargo bench -p quotient-groups --bench structure -- [--limit DEGREE] [FAMILY…]`
//!
//! Prints processor seconds of each. "element" covers preparing the membership test, one random element and one test. A
//! name other than the known one is an error.

#![allow(clippy::print_stdout)]

use quotient_groups::PermutationGroup;
use quotient_groups::group::families::{self, KnownGroup};
use quotient_groups::random::Random;
use std::time::Instant;

type Build = fn(usize) -> KnownGroup;

/// Families by degree: about that many points.
const FAMILIES: &[(&str, &[usize], Build)] = &[
    ("many factors", &[1_000, 10_000, 100_000], |n| families::copies(&families::iterated_wreath(&[10]), n / 10)),
    ("factors of polygons", &[1_000, 10_000, 100_000], |n| families::copies(&families::dihedral(50), n / 50)),
    ("wide wreath", &[1_000, 10_000, 100_000], |n| families::iterated_wreath(&[10, n / 10])),
    ("long wreath", &[1_000, 10_000, 100_000], |n| families::iterated_wreath(&vec![10; n.ilog10() as usize])),
    ("binary wreath", &[1 << 10, 1 << 13, 1 << 16], |n| families::iterated_wreath(&vec![2; n.ilog2() as usize])),
    ("symmetric", &[1_000, 10_000, 100_000], |n| families::symmetric_on_orbits(n, 1)),
    ("symmetric, 100 orbits", &[1_000, 10_000, 100_000], |n| families::symmetric_on_orbits(n / 100, 100)),
    ("symmetric, matrix", &[900, 10_000, 90_000], |n| families::symmetric_on_matrix(n.isqrt())),
    ("cyclic", &[1_000, 10_000, 100_000], |n| families::cyclic_on_orbits(n, 1)),
    ("cyclic, 10 orbits", &[1_000, 10_000, 100_000], |n| families::cyclic_on_orbits(n / 10, 10)),
    ("dihedral", &[1_000, 10_000, 100_000], families::dihedral),
    ("rings exchanged", &[1_000, 10_000, 100_000], |n| families::rings_exchanged(100, n / 100)),
    ("hypercube", &[1 << 6, 1 << 8, 1 << 10], |n| families::hypercube(n.ilog2() as usize)),
];

/// The processor time of a run, and the result of the last: the best of several runs, or the mean of short ones, since
/// processor time is only updated every few milliseconds.
fn timed<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let (mut best, mut spent, mut runs) = (f64::INFINITY, 0.0, 0);
    loop {
        let start = processor_seconds();
        let result = work();
        let elapsed = processor_seconds() - start;
        best = best.min(elapsed);
        spent += elapsed;
        runs += 1;
        if spent > 0.1 || runs == 100 {
            return (if best < 0.02 { spent / f64::from(runs) } else { best }, result);
        }
    }
}

/// The processor time of this thread, as reported by Linux; on other systems, wall-clock time.
fn processor_seconds() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

fn main() {
    let mut limit = usize::MAX;
    let mut names: Vec<String> = Vec::new();
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--limit" => limit = given.next().and_then(|text| text.parse().ok()).unwrap_or(limit),
            "--bench" => {}
            name => names.push(name.to_owned()),
        }
    }
    println!(
        "{:<24} {:>7} {:>7} {:>9} | {:>8} {:>8} {:>8} {:>8} | name",
        "family", "degree", "gens", "support", "order", "orbits", "name", "element"
    );
    let mut wrong = Vec::new();
    for (name, degrees, build) in
        FAMILIES.iter().filter(|family| names.is_empty() || names.iter().any(|name| name == family.0))
    {
        for &degree in degrees.iter().filter(|&&degree| degree <= limit) {
            let known = build(degree);
            let support: usize = known.generators.iter().map(|generator| generator.support().len()).sum();
            let (order, group) = timed(|| PermutationGroup::new(known.degree, known.generators.clone()));
            let (orbits, _) = timed(|| group.orbits());
            let (structure, found) = timed(|| group.structure());
            let (element, is_member) = timed(|| {
                let members = group.members();
                members.contains(&members.random_element(&mut Random::new(1)))
            });
            assert!(is_member, "{name} {degree}: a random element is no member");
            println!(
                "{name:<24} {:>7} {:>7} {support:>9} | {order:>8.4} {orbits:>8.4} {structure:>8.4} {element:>8.4} | {:.60}",
                known.degree,
                known.generators.len(),
                found.to_string(),
            );
            if found.to_string() != known.structure || found.order() != group.order() {
                wrong.push(format!("{name} {degree}: {found} and not {}", known.structure));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
