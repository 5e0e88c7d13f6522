//! Public B machines against recorded answers of ProB.
//!
//! The machines are not part of this repository: see `prerequisites::corpus`. `expected.csv` among them says, for each,
//! whether ProB found a violated invariant or a deadlock. It stops at the first thing that is wrong, so one that it
//! found says nothing about others. All of them take some minutes: without `QUOTIENT_WHOLE_CROSS=1`, a seeded sample is
//! checked. `bench/b-corpus` prints what becomes of each.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use quotient::names::property_kind;
use quotient::{Control, Error, Limits, LoadOptions, Model, Options, Plan, Subject, Verdict};
use quotient_ir::PropertyKind;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::random_murphi::Random;

/// Machines on which we answer otherwise than ProB, and why. The guide explains each reason to users.
const DIFFERENCES: [(&str, &str); 4] = [
    (
        "B/ErrorMachines/AssertCondViolated.mch",
        "an ASSERT that does not hold is an error; ProB's record does not count it",
    ),
    ("B/ErrorMachines/UndefinedArithmetic/DivByZeroOp.mch", "a value that is assigned and has no value is an error"),
    ("B/SchneiderBook/Assignments/Answer1/permit.mch", "a result of an operation without a value is an error"),
    ("B/SchneiderBook/Chapter18/Checkouts.mch", "an invariant without a value is an error"),
];

/// Machines that are checked unless all are.
const SAMPLE: usize = 60;

/// What ProB recorded of a machine.
struct Recorded {
    path: String,
    invariant_violated: bool,
    deadlock: bool,
}

fn recorded(folder: &Path) -> Vec<Recorded> {
    let table = fs::read_to_string(folder.join("expected.csv")).expect("expected.csv can be read");
    let row = |line: &str| {
        let columns: Vec<&str> = line.split(',').collect();
        let [path, _, _, invariant, deadlock, ..] = columns[..] else { panic!("too few columns in `{line}`") };
        let path = path.to_owned();
        Recorded { path, invariant_violated: invariant == "true", deadlock: deadlock == "true" }
    };
    table.lines().skip(1).filter(|line| !line.is_empty()).map(row).collect()
}

/// The kind of what is violated, "holds", "refused" or "limit".
///
/// # Errors
/// A defect of this program.
fn answer(path: &Path) -> Result<&'static str, String> {
    let limits = Limits { timeout: Some(Duration::from_secs(2)), max_states: Some(50_000), ..Limits::default() };
    let control = Control::start(&limits);
    let check = || -> Result<&'static str, Error> {
        let model = Model::load(path, &LoadOptions::default(), &control)?;
        let report =
            Plan::new(&model, &Options::default().exact_counts())?.run_with(&control, &mut quotient::Silent)?;
        Ok(match report.verdict {
            Verdict::Holds => "holds",
            Verdict::Inconclusive => "limit",
            Verdict::Violated => {
                // What ProB said of temporal formulas is not recorded.
                let is_recorded = |subject: Subject| match subject {
                    Subject::Property(id) => model.ir().properties[id].kind != PropertyKind::Temporal,
                    Subject::Deadlock | Subject::Errors => true,
                };
                let mut violated = report.properties.iter().filter(|property| property.verdict == Verdict::Violated);
                match violated.find(|property| is_recorded(property.subject)).map(|property| property.subject) {
                    Some(Subject::Property(id)) => property_kind(model.ir(), id),
                    Some(Subject::Deadlock) => "deadlock",
                    Some(Subject::Errors) => "errors",
                    None => "holds",
                }
            }
        })
    };
    match catch_unwind(AssertUnwindSafe(check)) {
        Err(_) => Err("a panic".to_owned()),
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Error::Internal(defect))) => Err(defect.to_string()),
        Ok(Err(Error::Stopped(_))) => Ok("limit"),
        Ok(Err(Error::Model(_))) => Ok("refused"),
        Ok(Err(error)) => Err(error.to_string()),
    }
}

#[test]
fn no_verdict_on_public_machines_contradicts_prob() {
    let Some(folder) = corpus("b", "public B machines against the answers of ProB") else { return };
    let mut rows = recorded(&folder);
    for (path, _) in &DIFFERENCES {
        assert!(rows.iter().any(|row| row.path == *path), "{path} is not in the corpus");
    }
    if std::env::var_os("QUOTIENT_WHOLE_CROSS").is_none_or(|value| value != "1") {
        let mut random = Random::new(0xb);
        let (known, mut others): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| DIFFERENCES.iter().any(|(path, _)| *path == row.path));
        rows = known;
        while rows.len() < SAMPLE && !others.is_empty() {
            rows.push(others.swap_remove(random.below(others.len())));
        }
    }
    let results = map_on_workers(2, &rows, |row| answer(&folder.join(&row.path)));
    let mut wrong = Vec::new();
    let mut decided = 0;
    for (row, result) in rows.iter().zip(results) {
        let found = match result {
            Ok(found) => found,
            Err(defect) => {
                wrong.push(format!("{}: {defect}", row.path));
                continue;
            }
        };
        let is_wrong_there = row.invariant_violated || row.deadlock;
        let agrees = match found {
            "refused" | "limit" => continue,
            "holds" => !is_wrong_there,
            _ => is_wrong_there,
        };
        decided += 1;
        if !agrees && !DIFFERENCES.iter().any(|(path, _)| *path == row.path) {
            let Recorded { path, invariant_violated, deadlock } = row;
            wrong.push(format!("{path}: {found}; ProB: invariant violated {invariant_violated}, deadlock {deadlock}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    assert!(3 * decided > rows.len(), "only {decided} of {} were decided", rows.len());
}
