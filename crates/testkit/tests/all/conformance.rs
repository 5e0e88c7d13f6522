//! The conformance cross on every example model and on random ones. All of it takes long: without
//! `QUOTIENT_WHOLE_CROSS=1`, each model is searched in a seeded sample of the ways.

use std::path::PathBuf;

use quotient::{Language, LoadOptions, Model};
use quotient_search::{SearchOrder, StoreMode};
use quotient_testkit::conformance::{Hands, Subjects, Tally, Way, cross, ways};
use quotient_testkit::examples::{murphi_examples, workspace};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::Random;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};

/// Models with more states are left out: each is searched hundreds of times.
const MOST_STATES: u64 = 30_000;
/// Of the ways, so many are searched of each model unless all are.
const SAMPLE: usize = 16;

fn is_whole() -> bool {
    std::env::var_os("QUOTIENT_WHOLE_CROSS").is_some_and(|value| value == "1")
}

/// The ways in which a model is searched.
fn chosen(seed: u64) -> Vec<Way> {
    let mut random = Random::new(seed);
    let mut all = ways(&mut |bound| random.below(bound as usize) as u64);
    if is_whole() {
        return all;
    }
    let mut sample = Vec::new();
    while sample.len() < SAMPLE {
        let way = all.swap_remove(random.below(all.len()));
        // Most ways are refused; few of these are enough.
        let odds = [
            (way.order == SearchOrder::DepthFirst, 6),
            (way.store.is_approximate(), 8),
            (way.store == StoreMode::Dense, 2),
            (way.on_disk && way.interrupted.is_some(), 8),
            (matches!(way.hands, Hands::Workers(_)) && (way.on_disk || way.store == StoreMode::Dense), 8),
        ];
        if odds.iter().all(|&(applies, odds)| !applies || random.below(odds) == 0) {
            sample.push(way);
        }
    }
    sample
}

fn run(models: Vec<(String, Model)>) -> Tally {
    let numbered: Vec<(u64, (String, Model))> = (0..).zip(models).collect();
    let found = map_on_workers(2, &numbered, |(seed, (name, model))| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut tally = Tally::default();
        for (subjects, seed) in [(Subjects::All, 2 * seed), (Subjects::Errors, 2 * seed + 1)] {
            let found = cross(model, subjects, &chosen(seed), MOST_STATES, folder.path());
            tally.add(&found.map_err(|error| format!("{name}, {subjects:?}: {error}"))?);
        }
        Ok::<Tally, String>(tally)
    });
    let mut tally = Tally::default();
    let mut differences = Vec::new();
    for result in found {
        match result {
            Ok(own) => tally.add(&own),
            Err(difference) => differences.push(difference),
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{tally:?}");
    }
    tally
}

fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let folder = workspace().join("models").join(folder);
    let entries = std::fs::read_dir(&folder).expect("a folder of examples");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| extensions.iter().any(|known| it == *known)));
    paths.sort();
    paths
}

#[test]
fn example_models() {
    let mut models = Vec::new();
    for path in files("murphi", &["m"]).into_iter().chain(files("promela", &["pml"])).chain(files("b", &["mch", "ref"]))
    {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let model = Model::from_path(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        models.push((name, model));
    }
    // Larger examples with the smaller constants of their headers.
    for example in murphi_examples() {
        for case in &example.header.cases {
            if case.constants.is_empty() {
                continue;
            }
            let options = LoadOptions { constants: case.constants.clone(), ..LoadOptions::default() };
            let path = workspace().join("models/murphi").join(&example.name);
            let model = Model::from_path_with(&path, &options).expect("a model");
            models.push((format!("{} {:?}", example.name, case.constants), model));
        }
    }
    let tally = run(models);
    assert!(
        tally.searched > 600
            && tally.refused > 300
            && tally.resumed > 100
            && tally.by_workers > 50
            && tally.on_disk > 50
            && tally.replayed > 100,
        "{tally:?}"
    );
}

#[test]
fn random_models() {
    let seeds = if is_whole() { 0..200 } else { 0..60 };
    // A change at random may leave no model.
    let models = seeds.filter_map(|seed| {
        let kind = if seed % 3 == 0 { Kind::NearlySymmetric } else { Kind::Symmetric };
        let model = Model::from_text("random", &symmetric_program(seed, kind), Language::Murphi);
        Some((format!("random {seed}"), model.ok()?))
    });
    let tally = run(models.collect());
    assert!(tally.searched > 200 && tally.resumed > 10 && tally.by_workers > 20, "{tally:?}");
}
