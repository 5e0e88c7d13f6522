//! Promela models against SPIN without its optimisations: the same number of stored states, the
//! same end states, the same errors.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quotient_testkit::promela::{Counts, count, load_promela};
use quotient_testkit::random_promela::random_promela;
use quotient_testkit::rumur::explain_skip;
use quotient_testkit::spin::{Spin, SpinFailure};

/// Models with more states than this are not compared here.
const LIMIT: usize = 300_000;

/// How a model compares: a line for a table, and whether the two agree.
fn compare(spin: &Spin, path: &Path) -> (String, bool) {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let answer = match spin.run(path, &[], Duration::from_secs(20)) {
        Ok(answer) if !answer.complete => return (format!("{name}: spin did not finish"), true),
        Ok(answer) => answer,
        Err(SpinFailure::Timeout(_)) => return (format!("{name}: spin takes too long"), true),
        Err(failure) => {
            let refused = load_promela(path, &[], false).is_err();
            let line = failure.to_string().lines().next().unwrap_or("").to_owned();
            return (format!("{name}: {line}; refused here: {refused}"), true);
        }
    };
    let model = match load_promela(path, &[], true) {
        Ok(model) => model,
        Err(diagnostics) => {
            let first = diagnostics.iter().find(|it| it.is_error()).map(|it| it.message.clone()).unwrap_or_default();
            // SPIN complains about a message with too few fields only when it is sent.
            let known = ["embedded-c", "priority", "unsupported", "wrong-arity"];
            let refused = diagnostics.iter().any(|it| known.contains(&it.code));
            return (format!("{name}: spin {}; refused: {first}", answer.states), refused);
        }
    };
    let counts = count(&model, LIMIT);
    if !counts.complete {
        return (format!("{name}: spin {}; more than {LIMIT} here", answer.states), answer.states as usize > LIMIT / 4);
    }
    let errors = match load_promela(path, &[], false) {
        Ok(model) => count(&model, LIMIT).fault.is_some(),
        Err(_) => false,
    };
    let Counts { states, passing, deadlock, .. } = counts;
    let agree = states == answer.states && deadlock == answer.deadlock && errors == answer.error;
    let mark = if agree { "" } else { "DIFFERENT " };
    let line = format!(
        "{mark}{name}: spin {} deadlock {} error {}; here {states} (+{passing}) deadlock {deadlock} error {errors} {}",
        answer.states,
        answer.deadlock,
        answer.error,
        counts.fault.unwrap_or_default()
    );
    (line, agree)
}

fn compare_all(files: &[PathBuf]) {
    let spin = match Spin::find() {
        Ok(spin) => spin,
        Err(reason) => return explain_skip("a comparison with SPIN", &reason),
    };
    let mut table = String::new();
    let mut all_agree = true;
    for path in files {
        let (line, agree) = compare(&spin, path);
        all_agree &= agree;
        let _ = writeln!(table, "{line}");
        if let Some(path) = std::env::var_os("QUOTIENT_PROMELA_TABLE") {
            std::fs::write(path, &table).expect("the table can be written");
        }
    }
    assert!(all_agree, "{table}");
}

fn promela_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// `QUOTIENT_RANDOM_PROMELA=2000` compares that many programs, from the seed in
/// `QUOTIENT_RANDOM_PROMELA_SEED` on.
#[test]
fn random_programs() {
    let number =
        |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise);
    let first = number("QUOTIENT_RANDOM_PROMELA_SEED", 1);
    let count = number("QUOTIENT_RANDOM_PROMELA", 0);
    let spin = match Spin::find() {
        Ok(spin) => spin,
        Err(reason) => return explain_skip("random Promela programs against SPIN", &reason),
    };
    let folder = tempfile::tempdir().expect("a folder for programs");
    let mut wrong = String::new();
    for seed in first..first + count {
        let path = folder.path().join(format!("random{seed}.pml"));
        std::fs::write(&path, random_promela(seed)).expect("a program can be written");
        let (line, agree) = compare(&spin, &path);
        if !agree || line.contains("rejects") {
            let _ = writeln!(wrong, "{line}");
        }
        if let Some(path) = std::env::var_os("QUOTIENT_RANDOM_PROMELA_TABLE") {
            std::fs::write(path, format!("{wrong}up to seed {seed}\n")).expect("the table can be written");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_examples_of_spin() {
    let folder = std::env::var_os("QUOTIENT_PROMELA_FOLDER")
        .map_or_else(|| PathBuf::from("/usr/share/doc/spin/examples/Examples"), PathBuf::from);
    if std::env::var_os("QUOTIENT_PROMELA_TABLE").is_none() {
        return explain_skip("a comparison with SPIN on its examples", "it takes minutes; set QUOTIENT_PROMELA_TABLE");
    }
    let files = promela_files(&folder);
    if files.is_empty() {
        return explain_skip("a comparison with SPIN on its examples", "the examples are not installed");
    }
    compare_all(&files);
}
