//! Proves the invariants of a Murphi model with the solver, without and with symmetries, and prints what that takes: one
//! line each, for `bench/solver`. With `--invariant`, also the clauses of the proof.

use std::time::Instant;

use quotient_engines::{SearchOptions, Silent, SymmetrySource, check_by_solver, plan};
use quotient_frontends::{Language, LoadOptions, load};
use quotient_ir::{Budget, DeadlockMode, Layout, PropertyId, PropertyKind, Source};
use quotient_symmetry::Preserved;

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() {
    let (flags, arguments): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|it| it.starts_with("--"));
    let [path, constants @ ..] = &arguments[..] else { panic!("which model? NAME=VALUE sets a constant of it") };
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    let text = std::fs::read_to_string(path).expect("a model to read");
    let constant = |it: &String| it.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let constants = constants.iter().map(|it| constant(it).expect("a constant is NAME=VALUE")).collect();
    let options = LoadOptions { constants, ..LoadOptions::default() };
    let model = load(Source::new(path, text), Language::Murphi, &options).expect("a model").model;
    let layout = Layout::new(&model).expect("a layout");
    let kind = |kind: PropertyKind| model.properties.iter_enumerated().filter(move |(_, entry)| entry.kind == kind);
    let invariants: Vec<PropertyId> = kind(PropertyKind::Invariant).map(|(id, _)| id).collect();
    let deadlock = if has("--deadlock") { DeadlockMode::Stuttering } else { DeadlockMode::Off };
    let options = SearchOptions { deadlock, properties: Some(invariants.clone()), ..SearchOptions::default() };
    for with_symmetries in [false, true] {
        if has("--with") && !with_symmetries || has("--without") && with_symmetries {
            continue;
        }
        let begin = Instant::now();
        let preserved = Preserved::Properties(&invariants);
        let source = SymmetrySource::Detected;
        let plan = with_symmetries
            .then(|| plan(&model, &layout, preserved, source, None, &Budget::unlimited()).expect("a plan"));
        let group = plan.as_ref().map(|plan| &plan.symmetry.group);
        let detected = begin.elapsed().as_secs_f64();
        let found = check_by_solver(&model, &layout, group, &options, &mut Silent).expect("a report");
        let proof = found.invariant.as_ref().map_or(0, |invariant| invariant.clauses.len());
        println!(
            "{{\"symmetries\": {with_symmetries}, \"verdict\": \"{:?}\", \"gates\": {}, \"queries\": {}, \"learned\": {}, \
             \"proof\": {proof}, \"levels\": {}, \"detection\": {detected:.2}, \"seconds\": {:.2}}}",
            found.report.verdict,
            found.gates,
            found.queries,
            found.clauses,
            found.depth,
            begin.elapsed().as_secs_f64()
        );
        for line in found.invariant.iter().filter(|_| has("--invariant")).flat_map(|it| it.lines(&model, &layout)) {
            println!("{line}");
        }
    }
}
