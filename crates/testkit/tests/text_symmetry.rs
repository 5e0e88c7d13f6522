//! Symmetries from the text against the other routes: every one is a symmetry of the functions and, on small models, of
//! the state space by brute force. On the example models a table says which route finds what (`QUOTIENT_TABLE=1`).
//!
//! Some hundred random models are tried; `QUOTIENT_RANDOM_MODELS` sets another number of each sort, and
//! `QUOTIENT_RANDOM_SEED` the first seed.

use std::fs;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Instant;

use num_bigint::BigUint;
use quotient_frontends::{Language, LoadOptions, load};
use quotient_ir::{Budget, Layout, Model, PropertyId, Source};
use quotient_symmetry::{Certifier, Preserved, Rejection, detect, symmetries_of_text};
use quotient_testkit::examples::{load_murphi, with_files_beside, workspace};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};
use quotient_testkit::symmetry_oracle::StateSpace;

fn workers() -> usize {
    available_parallelism().map_or(2, usize::from)
}

fn number_from(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")),
        Err(_) => default,
    }
}

fn load_file(path: &PathBuf) -> Option<Model> {
    let language = match path.extension()?.to_str()? {
        "m" => Language::Murphi,
        "pml" => Language::Promela,
        "mch" | "ref" => Language::B,
        "dve" => Language::Dve,
        "csp" => Language::Csp,
        _ => return None,
    };
    let text = fs::read_to_string(path).ok()?;
    let source = with_files_beside(Source::new(path.to_string_lossy(), text), language);
    load(source, language, &LoadOptions::default()).ok().map(|loaded| loaded.model)
}

fn example_files() -> Vec<PathBuf> {
    let folders = ["models/murphi", "models/promela", "models/b", "models/dve", "models/csp"];
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(workspace().join(folder)).expect("a folder of models"))
        .map(|entry| entry.expect("a folder entry").path())
        .collect();
    files.sort();
    files
}

/// What is found by the text and by the graph, and whether the first is contained in the second.
fn compare(model: &Model, limit: usize) -> Result<(BigUint, BigUint, usize, String), String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let preserved = Preserved::Properties(&properties);
    let began = Instant::now();
    let text = symmetries_of_text(model, &layout, preserved, &Budget::unlimited()).expect("unlimited");
    let text = text.ok_or("the text is too large")?;
    let read = began.elapsed();
    let began = Instant::now();
    let detection =
        detect(model, &layout, &properties, &Budget::unlimited()).map_err(|error| format!("the graph: {error}"))?;
    let unfolded = began.elapsed();
    let order = detection.group.order_and_structure(&Budget::unlimited()).expect("unlimited").0;
    if text.refused() > 0 {
        return Err(format!("the checker refuses {} claims", text.refused()));
    }
    if !text.is_trivial() {
        let mut certifier = Certifier::new(model, &layout, &properties, &Budget::unlimited()).expect("unlimited");
        let literals = certifier.literals().clone();
        for generator in text.generators_over(model, &layout, &literals) {
            match certifier.check(&generator) {
                // Functions say nothing about variables of rules that are too large for them.
                Ok(_) | Err(Rejection::MovesFixed(_)) => {}
                Err(rejection) => {
                    let described = literals.describe(model, &layout, &generator);
                    return Err(format!("not a symmetry: {rejection}: {described}"));
                }
            }
        }
        let group = text.group(model, &layout).ok_or("the group does not act on states")?;
        if let Ok(space) = StateSpace::reachable(model, &layout, limit) {
            for map in group.maps() {
                space.preserves(map).map_err(|error| format!("not a symmetry of the states: {error}"))?;
            }
        }
    }
    let times = format!("{:.1} ms against {:.1} ms", read.as_secs_f64() * 1e3, unfolded.as_secs_f64() * 1e3);
    Ok((text.order(), order, text.roles().len(), times))
}

#[test]
fn text_and_graph_agree_on_the_examples() {
    let files = example_files();
    let results = map_on_workers(workers(), &files, |path| {
        let model = load_file(path).ok_or_else(|| "not read".to_owned())?;
        compare(&model, 20_000)
    });
    let mut wrong = Vec::new();
    for (path, result) in files.iter().zip(results) {
        let name = path.file_name().expect("a file has a name").to_string_lossy();
        match result {
            Ok((text, graph, _, times)) => {
                if std::env::var_os("QUOTIENT_TABLE").is_some() {
                    #[expect(clippy::print_stderr, reason = "the table that is asked for")]
                    {
                        eprintln!("{name:32} {text:>12} of {graph:>12}, {times}");
                    }
                }
                if text > graph {
                    wrong.push(format!("{name}: {text} by the text, {graph} by the graph"));
                }
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

/// Compares the routes on the programs of some seeds; those that are no programs do not count.
fn compare_programs(default: u64, program: impl Fn(u64) -> String + Sync) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_MODELS", default)).collect();
    let results = map_on_workers(workers(), &seeds, |&seed| {
        let model = load_murphi("random", &program(seed), &[]).ok()?;
        Some(compare(&model, 2000).map_err(|reason| format!("seed {seed}: {reason}")))
    });
    let results: Vec<_> = results.into_iter().flatten().collect();
    let wrong: Vec<String> = results.iter().filter_map(|result| result.as_ref().err().cloned()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), results.len(), wrong.join("\n"));
    let one = BigUint::from(1u32);
    let by_graph = results.iter().flatten().filter(|found| found.1 > one).count();
    let by_text = results.iter().flatten().filter(|found| found.0 > one).count();
    let all = results.iter().flatten().filter(|found| found.1 > one && found.0 == found.1).count();
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!(
            "{} models, {by_graph} with symmetries; the text shows some of {by_text}, all of {all}",
            results.len()
        );
    }
}

#[test]
fn symmetries_of_random_symmetric_texts() {
    compare_programs(150, |seed| symmetric_program(seed, Kind::Symmetric));
}

#[test]
fn symmetries_of_nearly_symmetric_texts() {
    compare_programs(150, |seed| symmetric_program(seed, Kind::NearlySymmetric));
}

#[test]
fn symmetries_of_random_texts() {
    compare_programs(150, |seed| {
        random_program(seed, &ProgramOptions { size: 2, most_states: 2000, extensions: seed % 2 == 0 })
    });
}
