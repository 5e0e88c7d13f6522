//! The example models against rumur, where it is installed: what their headers expect is what
//! rumur answers, and a model is not stored with more states than rumur needs with its declared symmetries.

use std::fs;
use std::path::{Path, PathBuf};

use quotient::{Control, LoadOptions, Model, Options, Plan};
use quotient_ir::DeadlockMode;
use quotient_testkit::examples::{murphi_examples, workspace};
use quotient_testkit::expectation::with_constants;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::rumur::{Rumur, RumurOptions};
use quotient_testkit::verdict::VerdictClass;

#[test]
fn rumur_gives_what_the_headers_expect() {
    let Some(rumur) = Rumur::find_or_skip("comparing the example models with rumur") else { return };
    let examples = murphi_examples();
    let mut jobs = Vec::new();
    for example in examples.iter().filter(|example| example.header.no_peer.is_none()) {
        jobs.extend(example.header.cases.iter().map(|case| (example, case)));
    }
    assert!(jobs.len() >= 10, "there are models to compare");
    let wrong: Vec<String> = map_on_workers(2, &jobs, |&(example, case)| {
        let compare = || -> Result<(), String> {
            let text = with_constants(&example.text, &case.constants)?;
            let options = RumurOptions { deadlock: example.header.deadlock, ..RumurOptions::default() };
            let answer = rumur.check(&text, &options).map_err(|failure| failure.to_string())?;
            let expected = (case.verdict.class, Some(case.states), Some(case.rules_fired));
            if (answer.class, answer.states, answer.rules_fired) != expected {
                return Err(format!("rumur says {answer:?} and not {expected:?}"));
            }
            if case.verdict.subject.is_some() && answer.subject() != case.verdict.subject.as_deref() {
                return Err(format!("rumur says {:?} is violated", answer.subject()));
            }
            Ok(())
        };
        compare().err().map(|error| format!("{} {}: {error}", example.name, case.label()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The Murphi models of a folder that declare scalarsets.
fn with_scalarsets(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).expect("a folder of models");
    let mut models: Vec<(PathBuf, String)> = entries
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "m"))
        .filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?)))
        .filter(|(_, text)| text.to_lowercase().contains("scalarset"))
        .collect();
    models.sort();
    models
}

#[test]
fn no_more_states_than_declared_scalarsets_promise() {
    let purpose = "comparing with rumur's symmetry reduction";
    let Some(rumur) = Rumur::find_or_skip(purpose) else { return };
    let mut models = with_scalarsets(&workspace().join("models/murphi"));
    if let Some(corpus) = corpus("murphi", purpose) {
        models.extend(with_scalarsets(&corpus));
    }
    let wrong: Vec<String> = map_on_workers(2, &models, |(path, text)| {
        let compare = || -> Result<(), String> {
            let options = RumurOptions { deadlock: DeadlockMode::Off, symmetry: true, ..RumurOptions::default() };
            // rumur may refuse the model, or reject it: there is nothing to compare then.
            let Ok(theirs) = rumur.check(text, &options) else { return Ok(()) };
            if theirs.class != VerdictClass::Holds {
                return Ok(());
            }
            let model = Model::load(path, &LoadOptions::default(), &Control::default());
            let model = model.map_err(|error| error.to_string())?;
            let options = Options { deadlock: Some(DeadlockMode::Off), ..Options::default().exact_counts() };
            let report = Plan::new(&model, &options).and_then(|plan| plan.run()).map_err(|error| error.to_string())?;
            match Some(report.states) <= theirs.states {
                true => Ok(()),
                false => Err(format!("{} states, rumur {:?}", report.states, theirs.states)),
            }
        };
        compare().err().map(|error| format!("{}: {error}", path.display()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
