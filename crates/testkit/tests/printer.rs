//! The Murphi printer on real models: rumur gives for the printed text what our search gives for
//! the model, and reading the printed text gives that text again.
//!
//! The corpus lies outside this repository, see `corpus.rs`.

use std::fs;
use std::path::PathBuf;

use quotient_engines::{SearchOptions, Silent, check};
use quotient_ir::{DeadlockMode, Model, PrintOptions, print_murphi};
use quotient_testkit::examples::{load_murphi, murphi_examples, workspace};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::rumur::{Rumur, RumurOptions, explain_skip};
use quotient_testkit::verdict::Answer;

/// A model to print.
struct Job {
    name: String,
    model: Model,
    deadlock: DeadlockMode,
}

/// The examples with the constants of their first cases, and the corpus if it is there.
fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for example in murphi_examples() {
        let case = &example.header.cases[0];
        let model = example.load(case).unwrap_or_else(|errors| panic!("{}: {errors}", example.name));
        jobs.push(Job { name: example.name.clone(), model, deadlock: example.header.deadlock });
    }
    let folder =
        std::env::var_os("QUOTIENT_CORPUS").map_or_else(|| workspace().join("../shared/corpus/murphi"), PathBuf::from);
    if !folder.is_dir() {
        explain_skip("printing the corpus of Murphi models", &format!("there is no {}", folder.display()));
        return jobs;
    }
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).expect("a folder can be read").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "m"));
    paths.sort();
    for path in paths {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let text = fs::read(&path).expect("a file can be read");
        // What is refused on purpose cannot be printed.
        if let Ok(model) = load_murphi(&name, &String::from_utf8_lossy(&text), &[]) {
            jobs.push(Job { name, model, deadlock: DeadlockMode::Stuttering });
        }
    }
    jobs
}

/// Whether something in a model has to be written out in a way that does not come back: the names
/// of members that are printed as numbers are constants, and constants are not part of a model.
fn is_written_out(model: &Model) -> bool {
    model.types.iter().any(|entry| matches!(entry.kind, quotient_ir::TypeKind::Union { .. }))
}

#[test]
fn reading_printed_text_gives_it_again() {
    let jobs = jobs();
    let wrong: Vec<String> = map_on_workers(2, &jobs, |Job { name, model, .. }| {
        let compare = || -> Result<(), String> {
            let print =
                |model: &Model| print_murphi(model, &PrintOptions::default()).map_err(|error| error.to_string());
            let read = |text: &str| load_murphi("printed.m", text, &[]).map_err(|errors| format!("{errors}\n{text}"));
            let mut first = print(model)?;
            let mut second = print(&read(&first)?)?;
            if is_written_out(model) {
                first = second;
                second = print(&read(&first)?)?;
            }
            if first == second { Ok(()) } else { Err(format!("{first}\nbecomes\n{second}")) }
        };
        compare().err().map(|error| format!("{name}: {error}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), jobs.len(), wrong.join("\n"));
}

#[test]
fn rumur_counts_the_same_in_printed_models() {
    let Some(rumur) = Rumur::find_or_explain("comparing printed models with rumur") else { return };
    let jobs = jobs();
    let wrong: Vec<String> = map_on_workers(2, &jobs, |Job { name, model, deadlock }| {
        let compare = || -> Result<(), String> {
            let text = print_murphi(model, &PrintOptions::default()).map_err(|error| error.to_string())?;
            let options = SearchOptions { deadlock: *deadlock, ..SearchOptions::default() };
            let report = check(model, &options, &mut Silent).map_err(|error| error.to_string())?;
            let ours = Answer::of(model, &report);
            // The printed text itself has to make rumur compute in enough bits.
            let options = RumurOptions { deadlock: *deadlock, wide_values: false, ..RumurOptions::default() };
            let theirs = rumur.check(&text, &options).map_err(|failure| format!("{failure}\n{text}"))?;
            if (theirs.class, theirs.states, theirs.rules_fired)
                != (ours.class, Some(ours.states), Some(ours.rules_fired))
            {
                return Err(format!("rumur says {theirs:?} of the printed text, we say {ours:?}\n{text}"));
            }
            Ok(())
        };
        compare().err().map(|error| format!("{name}: {error}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), jobs.len(), wrong.join("\n"));
}
