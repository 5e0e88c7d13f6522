//! Promela models against SPIN without its optimisations: the same number of stored states, the
//! same end states, the same errors, the same unreached lines. SPIN's own examples are compared with
//! the table that the guide keeps, random programs with what SPIN says of them now.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use quotient::languages::{Language, LoadOptions, load};
use quotient_ir::{DeadlockMode, Source, SourceStatement};
use quotient_search::{SearchOptions, Silent, Subject, Verdict};
use quotient_testkit::examples::workspace;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::{Prerequisite, require_or_skip};
use quotient_testkit::promela::{count, load_promela};
use quotient_testkit::random_promela::{
    random_promela, random_promela_claim, random_promela_hidden, random_promela_states, random_promela_trace,
};
use quotient_testkit::search::check;
use quotient_testkit::spin::{Spin, SpinAnswer, SpinFailure, Unreached};
use quotient_testkit::switches::number_from;

/// What one of the two says of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    States { stored: u64, deadlock: bool, error: bool },
    Refused(String),
    Unfinished,
}

impl std::fmt::Display for Answer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::States { stored, deadlock, error } => {
                let answer = match (deadlock, error) {
                    (false, false) => "holds",
                    (true, false) => "end state",
                    (false, true) => "error",
                    (true, true) => "end state, error",
                };
                write!(formatter, "{stored}, {answer}")
            }
            Self::Refused(message) => write!(formatter, "refused: {message}"),
            Self::Unfinished => write!(formatter, "not finished"),
        }
    }
}

/// A model as the two see it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Comparison {
    name: String,
    spin: Answer,
    here: Answer,
    /// Whether SPIN's states may not be states of the model: its verifier takes back a receive of fewer
    /// fields than the message has without the others.
    spin_strays: bool,
    /// The lines that are unreached in SPIN and those that are here, with process types.
    unreached: [Lines; 2],
    /// Those that are unreached in SPIN, with one way on, and executed here.
    overlooked: Lines,
}

/// SPIN lists the head of a loop that is entered but never returned to, with the statements behind it; here only
/// statements are listed, and these are executed when the loop is entered. It does not list the first statement of
/// an option of a selection that nobody gets to.
const UNREACHED_DIFFERENCES: [&str; 3] = [
    "abp.pml:28 of Receiver, unreached for SPIN",
    "p329.pml:98 of fc, unreached for us",
    "p330.pml:98 of fc, unreached for us",
];

/// Process types and lines.
type Lines = BTreeSet<(String, usize)>;

impl Comparison {
    /// Whether both say the same, or one says nothing.
    fn agrees(&self) -> bool {
        match (&self.spin, &self.here) {
            (Answer::States { error: true, .. }, Answer::States { error, .. }) if self.spin_strays => *error,
            (Answer::States { .. }, Answer::States { .. }) => self.spin == self.here,
            (_, Answer::Refused(_)) => matches!(self.spin, Answer::Refused(_)),
            _ => true,
        }
    }

    /// The lines that only one of the two takes for unreached.
    fn unreached_differences(&self) -> Vec<String> {
        let (Answer::States { .. }, Answer::States { .. }) = (&self.spin, &self.here) else { return Vec::new() };
        let [there, here] = &self.unreached;
        let all =
            (there - here).into_iter().map(|it| (it, "SPIN")).chain((here - there).into_iter().map(|it| (it, "us")));
        all.map(|((process, line), who)| format!("{}:{line} of {process}, unreached for {who}", self.name)).collect()
    }

    /// Both answers in full.
    fn shown(&self) -> String {
        format!("{} ({})", self.row(), self.spin)
    }

    /// A row of the table.
    fn row(&self) -> String {
        match (&self.spin, &self.here) {
            (Answer::Refused(_), Answer::Refused(_)) => format!("| {} | refused | refused |", self.name),
            (Answer::Refused(_), _) => format!("| {} | refused | accepted |", self.name),
            (spin, here) => format!("| {} | {spin} | {here} |", self.name),
        }
    }
}

/// What SPIN says. Models of more states than `limit` are left alone.
/// Also whether its states may not be states of the model.
fn ask_spin(spin: &Spin, path: &Path, limit: u64, time: Duration) -> (Answer, bool, Vec<Unreached>) {
    match spin.run(path, &[], time) {
        Ok(SpinAnswer { states, deadlock, error, complete: true, unreached, message, .. }) if states <= limit => {
            let strays = message.contains("missing pars in receive");
            (Answer::States { stored: states, deadlock, error }, strays, unreached)
        }
        Ok(_) | Err(SpinFailure::Timeout(_)) => (Answer::Unfinished, false, Vec::new()),
        Err(failure) => {
            let text = failure.to_string();
            let line = text.lines().find(|line| line.contains("rror:")).or(text.lines().next()).unwrap_or("");
            (Answer::Refused(line.to_owned()), false, Vec::new())
        }
    }
}

/// What is said here. A model of more states than SPIN found is not searched to its end.
fn ask_here(path: &Path, spin: &Answer) -> (Answer, [Lines; 2]) {
    let model = match load_promela(path, &[], true) {
        Ok(model) => model,
        Err(diagnostics) => {
            let first = diagnostics.iter().find(|it| it.is_error()).map(|it| it.message.clone());
            return (Answer::Refused(first.unwrap_or_default()), Default::default());
        }
    };
    let Answer::States { stored, .. } = spin else { return (Answer::Unfinished, Default::default()) };
    let counts = count(&model, 2 * stored + 1000);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // Errors of other kinds may be passed over with assertions.
    let may_fail = text.contains("assert") || matches!(spin, Answer::States { error: true, .. });
    let fault = if counts.fault.is_none() && may_fail {
        let checked = load_promela(path, &[], false).expect("it could be read without assertions");
        count(&checked, 2 * stored + 1000).fault
    } else {
        counts.fault
    };
    let answer = Answer::States { stored: counts.states, deadlock: counts.deadlock, error: fault.is_some() };
    // SPIN does not look at these.
    let is_step = |text: &str| !["skip", "else", "true", "1", "(1)", "goto"].contains(&text);
    let steps = counts.unexecuted.iter().filter(|(statement, _)| is_step(&statement.text));
    let line = |(statement, _): &(SourceStatement, bool)| (statement.process.clone(), statement.line);
    let unreached = steps.clone().filter(|(_, is_reached)| !is_reached).map(line).collect();
    (answer, [unreached, steps.map(line).collect()])
}

fn compare(spin: &Spin, path: &Path, limit: u64, time: Duration) -> Comparison {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (spin, spin_strays, points) = ask_spin(spin, path, limit, time);
    let (here, [unreached_here, unexecuted]) = ask_here(path, &spin);
    // Several ways on: the head of a selection or loop, or escapes. The statements there may be got to otherwise.
    let is_plain = |it: &Unreached| {
        let same = points.iter().filter(|other| other.point == it.point && other.process == it.process);
        !it.is_skip && same.count() == 1
    };
    let lines = |it: &Unreached| (it.process.clone(), it.line);
    let plain: Lines = points.iter().filter(|it| is_plain(it)).map(lines).collect();
    let overlooked = &plain - &unexecuted;
    let there = points.iter().map(lines).collect();
    Comparison { name, spin, here, spin_strays, unreached: [there, unreached_here], overlooked }
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

/// Compares as many programs of consecutive seeds as are wanted; nothing without SPIN.
fn compare_random(purpose: &str, count: u64, program: fn(u64) -> String) -> Option<Vec<Comparison>> {
    let first = number_from("QUOTIENT_RANDOM_PROMELA_SEED", 1);
    let spin = Spin::find_or_skip(purpose)?;
    let folder = tempfile::tempdir().expect("a folder for programs");
    let seeds: Vec<u64> = (first..first + count).collect();
    let found = map_on_workers(2, &seeds, |seed| {
        let path = folder.path().join(format!("random{seed}.pml"));
        std::fs::write(&path, program(*seed)).expect("a program can be written");
        let comparison = compare(&spin, &path, 20_000, Duration::from_secs(3));
        let _ = std::fs::remove_file(&path);
        comparison
    });
    let wrong: Vec<String> = found.iter().filter(|it| !it.agrees()).map(Comparison::shown).collect();
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    Some(found)
}

/// `QUOTIENT_RANDOM_PROMELA=2000` compares that many programs, from the seed in
/// `QUOTIENT_RANDOM_PROMELA_SEED` on.
#[test]
fn random_programs() {
    let count = number_from("QUOTIENT_RANDOM_PROMELA", 200);
    let Some(found) = compare_random("random Promela programs against SPIN", count, random_promela) else { return };
    // SPIN does not list everything: not the first statements of options that nobody gets to, for one.
    let unreached: Vec<String> = found
        .iter()
        .filter(|it| matches!(it.here, Answer::States { .. }))
        .flat_map(|it| it.overlooked.iter().map(move |line| format!("{} {line:?}", it.name)))
        .collect();
    assert!(unreached.is_empty(), "{unreached:#?}");
    // A program that SPIN does not take, or not to its end, says nothing; there must not be many.
    let silent: Vec<String> =
        found.iter().filter(|it| !matches!(it.spin, Answer::States { .. })).map(Comparison::shown).collect();
    assert!(silent.len() as u64 <= 2 + count / 3, "{} of {count}:\n{}", silent.len(), silent.join("\n"));
}

/// The numbers of states that `pc_value` gives are SPIN's: in programs with a process more, which looks at the
/// others and goes on by what it sees. `QUOTIENT_RANDOM_STATES=2000` compares that many.
#[test]
fn random_numbers_of_states() {
    let count = number_from("QUOTIENT_RANDOM_STATES", 40);
    compare_random("the numbers of states of random Promela programs", count, random_promela_states);
}

/// Programs with `hidden` variables, which distinguish no states in SPIN. Where that is not sound we keep them and say
/// so, and the program is compared without that word. `QUOTIENT_RANDOM_HIDDEN=2000` compares that many.
#[test]
fn random_hidden_variables() {
    fn program(seed: u64) -> String {
        let text = random_promela_hidden(seed);
        let source = Source::new("model.pml", text.as_str());
        let loaded = load(source, Language::Promela, &LoadOptions::default());
        let warnings = loaded.map(|loaded| loaded.warnings).unwrap_or_default();
        if warnings.iter().any(|it| it.code == "hidden-variable") { text.replace("hidden ", "") } else { text }
    }
    let count = number_from("QUOTIENT_RANDOM_HIDDEN", 60);
    let first = number_from("QUOTIENT_RANDOM_PROMELA_SEED", 1);
    let forgotten = (first..first + count).filter(|&seed| program(seed).contains("hidden")).count() as u64;
    assert!(count < 8 || (count / 4..count).contains(&forgotten), "{forgotten} of {count} are as SPIN has them");
    compare_random("random Promela programs with hidden variables against SPIN", count, program);
}

/// Programs with a `trace` or `notrace`. `QUOTIENT_RANDOM_TRACES=2000` compares that many.
#[test]
fn random_traces() {
    let count = number_from("QUOTIENT_RANDOM_TRACES", 40);
    let found = compare_random("random Promela programs with traces against SPIN", count, random_promela_trace);
    let with_errors = |it: &&Comparison| matches!(it.spin, Answer::States { error: true, .. });
    let violated = found.map(|found| (found.iter().filter(with_errors).count() as u64, count));
    assert!(violated.is_none_or(|(some, all)| some > 0 && some < all), "traces say one thing only: {violated:?}");
}

/// Whether the claim of a program is violated; nothing if that cannot be said, because the program does
/// something wrong on its own, or has too many states.
fn violates_claim_here(text: &str) -> Option<bool> {
    let options = LoadOptions { watch_claims: true, ..LoadOptions::default() };
    let model = load(Source::new("model.pml", text), Language::Promela, &options).ok()?.model;
    let limits = SearchOptions { deadlock: DeadlockMode::Off, max_states: Some(50_000), ..SearchOptions::default() };
    let report = check(&model, &limits, &mut Silent).ok()?;
    let claim = report.properties.iter().find(|it| match it.subject {
        Subject::Property(id) => model.properties[id].name.as_deref() == Some("never"),
        _ => false,
    })?;
    match (claim.verdict, report.verdict) {
        (Verdict::Violated, _) => Some(true),
        (Verdict::Holds, Verdict::Holds) => Some(false),
        _ => None,
    }
}

/// `QUOTIENT_RANDOM_CLAIMS=2000` compares that many programs with `never` claims.
#[test]
fn random_claims() {
    let first = number_from("QUOTIENT_RANDOM_PROMELA_SEED", 1);
    let count = number_from("QUOTIENT_RANDOM_CLAIMS", 80);
    let Some(spin) = Spin::find_or_skip("random Promela programs with claims against SPIN") else { return };
    let folder = tempfile::tempdir().expect("a folder for programs");
    let seeds: Vec<u64> = (first..first + count).collect();
    let found = map_on_workers(2, &seeds, |seed| {
        let text = random_promela_claim(*seed);
        let here = violates_claim_here(&text)?;
        let path = folder.path().join(format!("claim{seed}.pml"));
        std::fs::write(&path, &text).expect("a program can be written");
        let there = spin.violates_claim(&path, Duration::from_secs(5)).ok();
        let _ = std::fs::remove_file(&path);
        there.map(|there| (*seed, here, there))
    });
    let compared: Vec<(u64, bool, bool)> = found.into_iter().flatten().collect();
    let wrong: Vec<&(u64, bool, bool)> = compared.iter().filter(|(_, here, there)| here != there).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:?}", wrong.len(), compared.len());
    assert!(compared.len() as u64 >= count / 3, "only {} of {count} say something", compared.len());
    let violated = compared.iter().filter(|(_, here, _)| *here).count();
    assert!(violated > 0 && violated < compared.len(), "claims say one thing only");
}

/// The lines of the table in the guide, between its head and the empty line behind it.
fn table(guide: &str) -> std::ops::Range<usize> {
    let head = "| --- | --- | --- |\n";
    let start = guide.find("## Compared with SPIN").expect("the guide has a table");
    let start = start + guide[start..].find(head).expect("the table has a head") + head.len();
    let end = guide[start..].find("\n\n").map_or(guide.len(), |length| start + length + 1);
    start..end
}

/// Every example of SPIN is in the guide's table, and the table says what is so. What SPIN does not
/// finish is not asked again. `QUOTIENT_PROMELA_TABLE=write` writes the table anew.
#[test]
fn the_examples_of_spin() {
    let purpose = "a comparison with SPIN on its examples";
    let Some(spin) = Spin::find_or_skip(purpose) else { return };
    let files = promela_files(Path::new("/usr/share/doc/spin/examples/Examples"));
    let files = if files.is_empty() { Err("the examples of Debian's package are not installed") } else { Ok(files) };
    let Some(files) = require_or_skip(Prerequisite::Peer, purpose, files) else { return };
    let path = workspace().join("docs/guide/promela.md");
    let guide = std::fs::read_to_string(&path).expect("there is a guide");
    let table = table(&guide);
    let rows: Vec<&str> = guide[table.clone()].lines().collect();
    let write = std::env::var_os("QUOTIENT_PROMELA_TABLE").is_some();
    let differences = Mutex::new(BTreeSet::new());
    let found = map_on_workers(2, &files, |file| {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let known = rows.iter().find(|row| row.starts_with(&format!("| {name} |"))).copied();
        let states = known.and_then(|row| row.split(['|', ',']).nth(2)?.trim().parse::<u64>().ok());
        if !write && known.is_some_and(|row| row.contains("not finished")) {
            return known.map(str::to_owned).unwrap_or_default();
        }
        // The largest take a second each; that is for those who write the table.
        if !write && states.is_some_and(|states| states > number_from("QUOTIENT_PROMELA_LIMIT", 100_000)) {
            return known.map(str::to_owned).unwrap_or_default();
        }
        let compared = compare(&spin, file, 2_000_000, Duration::from_secs(60));
        differences.lock().expect("nobody panics while holding it").extend(compared.unreached_differences());
        compared.row()
    });
    let differences = differences.into_inner().expect("nobody panicked");
    let explained: BTreeSet<String> = UNREACHED_DIFFERENCES.iter().map(|&it| it.to_owned()).collect();
    let surprising: Vec<&String> = differences.difference(&explained).collect();
    assert!(surprising.is_empty(), "statements that only one of the two gets to:\n{surprising:#?}");
    if write {
        let mut text = guide[..table.start].to_owned();
        for row in &found {
            let _ = writeln!(text, "{row}");
        }
        text.push_str(&guide[table.end..]);
        std::fs::write(&path, text).expect("the guide can be written");
        return;
    }
    let wrong: Vec<&String> = found.iter().filter(|row| !rows.contains(&row.as_str())).collect();
    assert!(wrong.is_empty(), "these are not in the table of docs/guide/promela.md:\n{wrong:#?}");
}
