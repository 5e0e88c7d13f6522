//! Symmetries from the text against the other routes: every one is a symmetry of the functions and, on small models, of
//! the state space by brute force. On the example models a table says which route finds what (`QUOTIENT_TABLE=1`).
//!
//! Some hundred random models are tried; `QUOTIENT_RANDOM_MODELS` sets another number of each sort, and
//! `QUOTIENT_RANDOM_SEED` the first seed.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Instant;

use num_bigint::BigUint;
use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{Budget, Interrupt, Layout, Model, PropertyId, Source};
use quotient_symmetry::{CertifiedGroup, Certifier, Preserved, Rejection, detect, symmetries_of_text};
use quotient_testkit::examples::{load_murphi, with_files_beside, workspace};
use quotient_testkit::mutants::mutant;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_b::random_machine;
use quotient_testkit::random_dve::random_dve;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::random_promela::{RunClaim, random_promela, random_promela_runs};
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};
use quotient_testkit::symmetry_oracle::StateSpace;

fn workers() -> usize {
    available_parallelism().map_or(2, usize::from)
}

fn language_of(path: &Path) -> Option<Language> {
    Language::from_file_name(&path.to_string_lossy())
}

fn load_file(path: &Path) -> Option<Model> {
    let language = language_of(path)?;
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
    if !text.refused().is_empty() {
        return Err(format!("the checker refuses {:?}", text.refused()));
    }
    if !text.is_trivial() {
        let mut certifier = Certifier::new(model, &layout, &properties, &Budget::unlimited()).expect("unlimited");
        let literals = certifier.literals().clone();
        let mut rejected = None;
        for generator in text.generators_over(model, &layout, &literals) {
            match certifier.check(&generator) {
                // Functions say nothing about variables of rules that are too large for them.
                Ok(_) | Err(Rejection::MovesFixed(_)) => {}
                Err(rejection) => {
                    let described = literals.describe(model, &layout, &generator);
                    rejected = Some(format!("not a symmetry: {rejection}: {described}"));
                }
            }
        }
        let group = text.group(model, &layout).ok_or("the group does not act on states")?;
        are_preserved(model, &layout, &group, rejected, limit)?;
    }
    let times = format!("{:.1} ms against {:.1} ms", read.as_secs_f64() * 1e3, unfolded.as_secs_f64() * 1e3);
    Ok((text.order(), order, text.roles(model).len(), times))
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

/// Whether every symmetry of a text is one of the functions and, if there are few states, of the state space. `None` if
/// there are none, or functions take too long.
fn is_sound(model: &Model, limit: usize) -> Option<Result<(), String>> {
    let layout = Layout::new(model).ok()?;
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let text = symmetries_of_text(model, &layout, Preserved::Properties(&properties), &Budget::unlimited());
    let text = text.expect("unlimited")?;
    if !text.refused().is_empty() {
        return Some(Err(format!("the checker refuses {:?}", text.refused())));
    }
    if text.is_trivial() {
        return None;
    }
    let budget = Budget::new(MOST_WORK, Interrupt::new());
    let mut certifier = Certifier::new(model, &layout, &properties, &budget).ok()?;
    let literals = certifier.literals().clone();
    let mut rejected = None;
    for generator in text.generators_over(model, &layout, &literals) {
        match certifier.check(&generator) {
            // Functions say nothing about variables of rules that are too large for them.
            Ok(_) | Err(Rejection::MovesFixed(_)) => {}
            Err(rejection) => {
                let described = literals.describe(model, &layout, &generator);
                rejected = Some(format!("not a symmetry: {rejection}: {described}"));
            }
        }
    }
    let group = text.group(model, &layout)?;
    Some(are_preserved(model, &layout, &group, rejected, limit))
}

/// Whether symmetries preserve the state space, if it is small. Equal functions may have different forms where they go
/// wrong, so that functions may reject a symmetry; then the states decide, and there must be few.
fn are_preserved(
    model: &Model,
    layout: &Layout,
    group: &CertifiedGroup,
    rejected: Option<String>,
    limit: usize,
) -> Result<(), String> {
    let limit = if rejected.is_some() { limit.max(50_000) } else { limit };
    match (StateSpace::reachable(model, layout, limit), rejected) {
        (Ok(space), _) => group
            .maps()
            .iter()
            .try_for_each(|map| space.preserves(map).map_err(|error| format!("not a symmetry of the states: {error}"))),
        (Err(_), None) => Ok(()),
        (Err(_), Some(rejection)) => Err(rejection),
    }
}

/// The most work for the functions of a mutant.
const MOST_WORK: u64 = 20_000_000;

/// Texts of the examples with one occurrence changed. `QUOTIENT_MUTANTS` sets how many of each.
#[test]
fn mutants_of_the_examples() {
    let files = example_files();
    let (first, count) = (number_from("QUOTIENT_RANDOM_SEED", 0), number_from("QUOTIENT_MUTANTS", 6));
    let jobs: Vec<(usize, u64)> =
        (0..files.len()).flat_map(|file| (first..first + count).map(move |seed| (file, seed))).collect();
    let results = map_on_workers(workers(), &jobs, |&(file, seed)| {
        let path = &files[file];
        let text = fs::read_to_string(path).ok()?;
        let language = language_of(path)?;
        let source = Source::new(path.to_string_lossy(), mutant(&text, 0, seed));
        let loaded = load(with_files_beside(source, language), language, &LoadOptions::default()).ok()?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some(is_sound(&loaded.model, 2000).map(|sound| sound.map_err(|why| format!("{name}, seed {seed}: {why}"))))
    });
    report("mutants", results);
}

/// Says how many models there were, and fails if one is wrong.
fn report(what: &str, results: Vec<Option<Option<Result<(), String>>>>) {
    let models: Vec<_> = results.into_iter().flatten().collect();
    let wrong: Vec<String> = models.iter().flatten().filter_map(|result| result.clone().err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), models.len(), wrong.join("\n"));
    let symmetric = models.iter().flatten().count();
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{what}: {} models, {symmetric} with symmetries in the text", models.len());
    }
}

/// The program of a seed.
type Program = fn(u64) -> String;

/// Random texts in other languages.
#[test]
fn symmetries_of_random_texts_in_other_languages() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_MODELS", 100)).collect();
    let programs: [(Language, Program); 4] = [
        (Language::Promela, random_promela),
        (Language::Promela, |seed| random_promela_runs(seed, RunClaim::Labels)),
        (Language::Dve, |seed| random_dve(seed).text()),
        (Language::B, random_machine),
    ];
    for (language, program) in programs {
        let results = map_on_workers(workers(), &seeds, |&seed| {
            let source = Source::new("random", program(seed));
            let loaded = load(source, language, &LoadOptions::default()).ok()?;
            Some(is_sound(&loaded.model, 2000).map(|sound| sound.map_err(|why| format!("seed {seed}: {why}"))))
        });
        report("random", results);
    }
}

/// What the text of each example shows, with strict quantifiers where these show more. The others show nothing.
#[test]
fn what_the_examples_show() {
    let expected = [
        ("dining_philosophers.m", "C5"),
        ("flash.m", "S3"),
        ("german.m", "S3 × S2"),
        ("german_forgotten_reader.m", "S3"),
        ("german_unread_data.m", "S3 × S2"),
        ("hanoi.m", "S2"),
        ("home_cache.m", "S4"),
        ("leader_election_complete.m", "S6"),
        ("leader_election_ring.m", "C4"),
        ("leader_election_tree.m", "S2 wr S2"),
        ("lock_server.m", "S2"),
        ("mesi.m", "S3 × S2"),
        ("peterson.m", "S3"),
        ("resource_allocator.m", "S3 × S2 × S2"),
        ("resource_controller.m", "S3 × S3"),
        ("semaphore_mutex.m", "S4"),
        ("social_golfer.m", "S4 × S2 × S2"),
        ("three_tiered.m", "S3 × S3 × S2"),
        ("ticket_lock.m", "S3"),
        ("token_circulation.m", "C3 × S2"),
        ("two_hop_colouring.m", "S3"),
        ("two_phase_commit.m", "S3"),
        ("unreachable_repair.m", "S4"),
        ("booking.pml", "S3"),
        ("client_server.pml", "S3"),
        ("hypercube.pml", "S2^3"),
        ("leader_ring.pml", "C3"),
        ("mutex.pml", "S3"),
        ("resource_allocator.pml", "S3 × S2 × S2"),
        ("three_tiered.pml", "S3 wr S2 × S2"),
        ("AllPhilosophers.mch", "S2 × S2"),
        ("Library.mch", "S2 × S2"),
        ("LoginVerySimple.mch", "S2"),
        ("Philosophers.mch", "S2 × S2"),
        ("PhoneBook.mch", "S2"),
        ("PhoneBookBroken.mch", "S2"),
        ("RussianPostalPuzzle.mch", "S2"),
        ("Towns.mch", "S2"),
        ("USB.mch", "S2 × S2"),
        ("scheduler0.mch", "S2"),
        ("scheduler1.ref", "S2"),
        ("leader_odd_ring.csp", "S2"),
        ("token_ring.csp", "S2"),
    ];
    let mut differences = Vec::new();
    for path in example_files() {
        let Some(model) = load_file(&path) else { continue };
        let layout = Layout::new(&model).expect("examples are small");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let (preserved, budget) = (Preserved::Properties(&properties), Budget::unlimited());
        let plain = symmetries_of_text(&model, &layout, preserved, &budget);
        let plain = plain.expect("unlimited").expect("examples are small");
        let strict = plain.with_strict_quantifiers(&model, &layout, preserved, &budget).expect("unlimited");
        let found = strict.map_or(plain, |(_, found)| found);
        let name = path.file_name().expect("a file has a name").to_string_lossy();
        let expected = expected.iter().find(|(file, _)| *file == name).map_or("1", |(_, structure)| structure);
        if found.structure().to_string() != expected {
            differences.push(format!("{name}: {} instead of {expected}", found.structure()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
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
