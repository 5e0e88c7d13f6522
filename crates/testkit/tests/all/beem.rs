//! DVE models of the benchmark BEEM against its recorded answers: the numbers of states, which goals can be reached, which
//! LTL properties hold (as automata and as formulas), and the same answers with symmetries, whose orbits add up.
//!
//! The models are not part of this repository: see `prerequisites::corpus`. Without `QUOTIENT_WHOLE_CROSS=1`, a seeded
//! sample of the small ones is checked. `bench/beem` measures all of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use quotient::ir::{DeadlockMode, PropertyKind};
use quotient::{Control, LoadOptions, Model, Options, Plan, Report, Subject, Symmetry, Verdict, ViolationLimit};
use quotient_testkit::beem::{Recorded, RecordedProperty, formula, goal, recorded, recorded_properties};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::random_murphi::Random;

/// The models that are checked have at most this many states, unless all are asked for.
const LARGEST: u64 = 15_000;
const LARGEST_OF_ALL: u64 = 400_000;
const SAMPLE: usize = 16;

/// Models with run-time errors, and the states of DiVinE that stand for them: one for each valuation of the global
/// variables. Here, errors are not states.
const ERROR_STATES: [(&str, u64); 1] = [("anderson.1.dve", 3)];

/// Properties that only runs violate that go on after a run-time error, as they do in DiVinE.
const PAST_ERRORS: [&str; 1] = ["anderson.1.prop4.dve"];

/// Whether a report says that there are run-time errors.
fn has_errors(report: &Report) -> bool {
    report.properties.iter().any(|it| it.subject == Subject::Errors && it.verdict == Verdict::Violated)
}

fn compare(folder: &Path, row: &Recorded) -> Result<(), String> {
    let goals: Vec<(u32, bool, String)> =
        row.goals.iter().filter_map(|&(number, reached)| Some((number, reached, goal(folder, row, number)?))).collect();
    if goals.len() != row.goals.len() {
        return Err("a goal has no formula".into());
    }
    let reach = goals.iter().map(|(_, _, text)| text.clone()).collect();
    let path = folder.join(&row.family).join(&row.file);
    let control = Control::default();
    let options = LoadOptions { reach, ..LoadOptions::default() };
    let model = Model::load(&path, &options, &control).map_err(|error| error.to_string())?;
    for symmetry in [Symmetry::Off, Symmetry::Auto] {
        let all_errors = symmetry == Symmetry::Off;
        let violations = if all_errors { ViolationLimit::All } else { ViolationLimit::default() };
        let options =
            Options { symmetry, violations, deadlock: Some(DeadlockMode::Off), ..Options::default().exact_counts() };
        let plan = Plan::new(&model, &options).map_err(|error| error.to_string())?;
        let report = plan.run_with(&control, &mut quotient::Silent).map_err(|error| error.to_string())?;
        let error_states = ERROR_STATES.iter().find(|(file, _)| *file == row.file).map_or(0, |(_, states)| *states);
        if has_errors(&report) != (error_states > 0) {
            return Err(format!("{symmetry:?}: run-time errors are expected only in known models"));
        }
        if has_errors(&report) && !all_errors {
            continue;
        }
        let represented = report.represented.as_ref().map(ToString::to_string);
        let states = row.states.map(|states| (states - error_states).to_string());
        if represented != states {
            return Err(format!("{symmetry:?}: {represented:?} states, recorded {states:?}"));
        }
        let mut covers = report.properties.iter().filter(|it| matches!(it.subject, Subject::Property(_)));
        for (number, reached, text) in &goals {
            let cover = covers.next().ok_or("a goal without an answer")?;
            if (cover.verdict == Verdict::Holds) != *reached {
                return Err(format!("{symmetry:?}: goal {number}, `{text}`, is {:?}", cover.verdict));
            }
        }
    }
    Ok(())
}

#[test]
fn beem_models_give_what_is_recorded() {
    let Some(folder) = corpus("beem", "DVE models against the recorded answers of BEEM") else { return };
    let whole = std::env::var_os("QUOTIENT_WHOLE_CROSS").is_some_and(|value| value == "1");
    let largest = if whole { LARGEST_OF_ALL } else { LARGEST };
    let mut rows = recorded(&folder);
    rows.retain(|row| row.states.is_some_and(|states| states <= largest));
    if !whole {
        let mut random = Random::new(0xdce);
        while rows.len() > SAMPLE {
            rows.swap_remove(random.below(rows.len()));
        }
    }
    let results = map_on_workers(2, &rows, |row| {
        let result = catch_unwind(AssertUnwindSafe(|| compare(&folder, row)));
        result.unwrap_or_else(|_| Err("a panic".to_owned()))
    });
    let wrong = rows.iter().zip(results).filter_map(|(row, result)| Some(format!("{}: {}", row.file, result.err()?)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} of {} are wrong\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    assert!(rows.len() >= SAMPLE.min(10), "only {} models were checked", rows.len());
}

/// The verdicts about an LTL property, by the way it is given and the use of symmetries.
fn compare_property(folder: &Path, property: &RecordedProperty) -> Result<(), String> {
    let text = formula(folder, property).ok_or("a property without a formula")?;
    let family = folder.join(&property.family);
    let ways = [
        ("automaton", family.join(&property.file), LoadOptions::default()),
        ("formula", family.join(property.model_file()), LoadOptions { ltl: vec![text], ..LoadOptions::default() }),
    ];
    let control = Control::default();
    for (way, path, options) in ways {
        let model = Model::load(&path, &options, &control).map_err(|error| format!("{way}: {error}"))?;
        let name = model.ir().properties.iter().find(|it| it.kind == PropertyKind::Temporal);
        let name = name.and_then(|it| it.name.clone()).ok_or("no temporal property")?;
        for symmetry in [Symmetry::Off, Symmetry::Auto] {
            let options = Options { symmetry, deadlock: Some(DeadlockMode::Off), ..Options::default() };
            let plan = Plan::new(&model, &options.property(name.clone())).map_err(|error| error.to_string())?;
            let report = plan.run_with(&control, &mut quotient::Silent).map_err(|error| error.to_string())?;
            let verdict = report.properties.iter().find(|it| matches!(it.subject, Subject::Property(_)));
            let verdict = verdict.map(|it| it.verdict);
            let expected = if property.holds { Verdict::Holds } else { Verdict::Violated };
            if verdict != Some(expected) {
                return Err(format!("{symmetry:?}: by {way} it is {verdict:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn beem_properties_are_decided_as_recorded() {
    let Some(folder) = corpus("beem", "LTL properties against the recorded verdicts of BEEM") else { return };
    let whole = std::env::var_os("QUOTIENT_WHOLE_CROSS").is_some_and(|value| value == "1");
    let largest = if whole { LARGEST_OF_ALL } else { LARGEST };
    let mut rows = recorded_properties(&folder);
    assert!(rows.len() > 100, "only {} properties", rows.len());
    rows.retain(|row| row.states.is_some_and(|states| states <= largest) && !PAST_ERRORS.contains(&&*row.file));
    if !whole {
        let mut random = Random::new(0x171);
        while rows.len() > SAMPLE {
            rows.swap_remove(random.below(rows.len()));
        }
    }
    let results = map_on_workers(2, &rows, |row| {
        let result = catch_unwind(AssertUnwindSafe(|| compare_property(&folder, row)));
        result.unwrap_or_else(|_| Err("a panic".to_owned()))
    });
    let wrong = rows.iter().zip(results).filter_map(|(row, result)| Some(format!("{}: {}", row.file, result.err()?)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} of {} are wrong\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    assert!(rows.len() >= SAMPLE.min(10), "only {} properties were checked", rows.len());
}

/// Every file of the corpus is read, also those with the automata of properties.
#[test]
fn all_beem_files_are_read() {
    let Some(folder) = corpus("beem", "DVE texts of BEEM") else { return };
    let mut count = 0;
    for family in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if !family.is_dir() {
            continue;
        }
        for path in std::fs::read_dir(&family).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.extension().is_none_or(|extension| extension != "dve") {
                continue;
            }
            let model = Model::from_path(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let has_property = path.to_string_lossy().contains(".prop");
            let temporal = model.ir().properties.iter().filter(|it| it.kind == PropertyKind::Temporal).count();
            assert_eq!(temporal, usize::from(has_property), "{}", path.display());
            assert!(model.unsupported().is_empty(), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 100, "only {count} files");
}
