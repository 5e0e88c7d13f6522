//! Claims about every size against brute force: random families and the models of `models/murphi/every`.

use std::time::Duration;

use quotient::{
    Control, Error, Every, EveryReport, Language, Limits, LoadOptions, Model, Options, Plan, Silent, Symmetry, Verdict,
};
use quotient_ir::DeadlockMode;
use quotient_testkit::examples::workspace;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_families::random_family;
use quotient_testkit::switches::number_from;

/// Instances of up to this size are searched.
const LARGEST: i64 = 7;
/// In this time a claim about a random family is decided, or is left open.
const PATIENCE: Duration = Duration::from_secs(10);

fn load(text: &str, constants: &[(String, String)]) -> Result<Model, Error> {
    let options = LoadOptions { constants: constants.to_vec(), ..LoadOptions::default() };
    Model::from_bytes("family.m", text.as_bytes(), Language::Murphi, &options, &Control::default())
}

fn every(text: &str, constants: &[(&str, i64)], from: i64) -> Result<EveryReport, Error> {
    let given: Vec<(String, String)> =
        constants.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
    let model = load(text, &given)?;
    let claim = Every { constant: "N".to_owned(), from };
    let options = Options::default().limits(Limits { timeout: Some(PATIENCE), ..Limits::default() });
    let mut member = |more: &[(String, String)]| load(text, &[&given[..], more].concat());
    quotient::every(&model, &claim, &options, &Control::start(&options.limits), &mut Silent, &mut member)
}

/// Whether an instance violates something, found without symmetries; `None` if there are too many states.
fn is_violated(text: &str, size: i64) -> Option<bool> {
    let model = load(text, &[("N".to_owned(), size.to_string())]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let limits = Limits { max_states: Some(60_000), ..Limits::default() };
    let options =
        Options { deadlock: Some(DeadlockMode::Off), ..Options::default().symmetry(Symmetry::Off).limits(limits) };
    let report = Plan::new(&model, &options).expect("a plan").run().unwrap_or_else(|error| panic!("{error}\n{text}"));
    match report.verdict {
        Verdict::Holds => Some(false),
        Verdict::Violated => Some(true),
        Verdict::Inconclusive => None,
    }
}

/// What was claimed about a family, compared with its first instances.
fn compare(seed: u64) -> Verdict {
    let text = random_family(seed);
    let report = every(&text, &[], 1).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    match (report.verdict, &report.violation) {
        (Verdict::Holds, _) => {
            for size in 1..=LARGEST {
                let is_wrong = is_violated(&text, size);
                assert_ne!(is_wrong, Some(true), "seed {seed}: a wrong proof, see N = {size}\n{text}");
                if is_wrong.is_none() {
                    break;
                }
            }
        }
        (Verdict::Violated, Some((size, ..))) => {
            for smaller in 1..*size {
                assert_ne!(is_violated(&text, smaller), Some(true), "seed {seed}: not the smallest N\n{text}");
            }
            assert_ne!(is_violated(&text, *size), Some(false), "seed {seed}: no violation\n{text}");
        }
        (Verdict::Violated, None) => panic!("seed {seed}: a violation without a run"),
        (Verdict::Inconclusive, _) => {}
    }
    report.verdict
}

/// `QUOTIENT_RANDOM_FAMILIES` says how many.
#[test]
fn random_families_have_no_wrong_proofs() {
    let seeds: Vec<u64> = (0..number_from("QUOTIENT_RANDOM_FAMILIES", 60)).collect();
    let total = seeds.len();
    let verdicts = map_on_workers(2, &seeds, |seed| compare(*seed));
    let count = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let (proved, refuted, open) = (count(Verdict::Holds), count(Verdict::Violated), count(Verdict::Inconclusive));
    // Shown with `--nocapture`, for the record.
    eprintln!("{total} families: {proved} proved, {refuted} refuted, {open} open");
    assert!(proved > 0 && refuted > 0, "the families say nothing");
}

/// The lines of a header that say what holds for every `N`: the constants, and the smallest `N` that violates, if any.
fn expectations(text: &str) -> Vec<(Vec<(&str, i64)>, Option<i64>)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("-- every N"));
    lines
        .map(|line| {
            let (setting, verdict) = line.split_once(':').expect("a verdict");
            let setting = setting.trim().strip_prefix("with ");
            let constants = setting.map(|setting| {
                let (name, value) = setting.split_once('=').expect("a constant");
                (name, value.parse().expect("a number"))
            });
            let violated = verdict.trim().strip_prefix("violated with N = ");
            assert!(violated.is_some() || verdict.trim() == "holds", "{line}");
            (constants.into_iter().collect(), violated.map(|number| number.parse().expect("a number")))
        })
        .collect()
}

#[test]
fn models_hold_or_are_refuted_as_they_say() {
    let folder = workspace().join("models/murphi/every");
    let entries = std::fs::read_dir(&folder).expect("the folder of the models");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let said = map_on_workers(2, &paths, |path| {
        let text = std::fs::read_to_string(path).expect("a model");
        let expected = expectations(&text);
        assert!(expected.len() >= 2, "{}: a right and a wrong variant", path.display());
        for (constants, violated) in expected {
            let report = every(&text, &constants, 1).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let found = report.violation.as_ref().map(|(size, ..)| *size);
            assert_eq!(found, violated, "{} {constants:?}", path.display());
            assert_eq!(report.verdict == Verdict::Holds, violated.is_none(), "{} {constants:?}", path.display());
        }
    });
    assert!(!said.is_empty());
}
