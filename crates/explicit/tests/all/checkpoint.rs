//! Checkpoints: a search that goes on from one ends as one that was never stopped, on any number of
//! threads; and a file that is not a checkpoint of this search is refused.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use quotient_ir::{DeadlockMode, Model, Source};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_search::{EngineError, Observer, Progress, Report, SearchOptions, Silent, StopReason, Verdict};
use quotient_testkit::search::check;

fn model(extra: &str) -> Model {
    let text = format!(
        "const N: 7; type id: 1..N;
        var c: array[id] of 0..3; last: id; far: 0..1000000;
        startstate begin for i: id do c[i] := 0; end; last := 1; far := 0; end;
        ruleset i: id do
          rule \"up\" c[i] < 3 ==> begin c[i] := c[i] + 1; last := i; end;
          rule \"down\" c[i] = 3 & last != i ==> begin c[i] := 0; end;
        end;
        {extra}"
    );
    parse(text)
}

fn parse(text: String) -> Model {
    match LANGUAGE.load(Source::new("test.m", text), &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{:?}", diagnostics.iter().map(|entry| &entry.message).collect::<Vec<_>>()),
    }
}

/// A file that is gone afterwards.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("quotient-{}-{name}", std::process::id()));
        Self(path)
    }
    fn path(&self) -> Option<PathBuf> {
        Some(self.0.clone())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Wants a checkpoint at some report of progress, and panics a little later: a process that is
/// killed.
struct Killer {
    reports: u32,
    checkpoint_at: u32,
    stops: bool,
}

impl Observer for Killer {
    fn progress(&mut self, _progress: &Progress) -> ControlFlow<StopReason> {
        self.reports += 1;
        assert!(self.stops || self.reports <= self.checkpoint_at + 1, "killed");
        if self.stops && self.reports > self.checkpoint_at {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        ControlFlow::Continue(())
    }
    fn wants_checkpoint(&mut self) -> bool {
        self.reports == self.checkpoint_at
    }
}

/// A report without what may differ: memory.
fn without_memory(report: Report) -> Report {
    Report { memory_bytes: 0, ..report }
}

fn run(model: &Model, options: &SearchOptions) -> Report {
    without_memory(check(model, options, &mut Silent).expect("a report"))
}

const EXTRAS: [&str; 3] = [
    "",
    "invariant \"not all\" exists i: id do c[i] < 3 end; cover \"some\" c[1] = 3 & c[7] = 3; cover \"never\" far = 7;",
    "invariant \"late\" !(c[1] = 3 & c[2] = 3 & c[3] = 3 & c[4] = 3 & c[5] = 2);",
];

#[test]
fn killed_and_resumed_is_as_if_nothing_had_happened() {
    for (number, extra) in EXTRAS.iter().enumerate() {
        let model = model(extra);
        let expected = run(&model, &SearchOptions::default());
        for threads in [1, 2] {
            for checkpoint_at in [1, 3, 5] {
                let place = TemporaryFile::new(&format!("killed-{number}-{threads}-{checkpoint_at}"));
                let options = SearchOptions { threads, checkpoint: place.path(), ..SearchOptions::default() };
                let killed = std::panic::catch_unwind(|| {
                    check(&model, &options, &mut Killer { reports: 0, checkpoint_at, stops: false }).map(drop)
                });
                assert!(place.0.exists() || killed.is_ok(), "a checkpoint was written, or the search was over first");
                if !place.0.exists() {
                    continue;
                }
                for threads in [1, 3] {
                    let options = SearchOptions { threads, resume: place.path(), ..SearchOptions::default() };
                    let report = run(&model, &options);
                    assert_eq!(report, expected, "{extra}, checkpoint {checkpoint_at}, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn a_search_that_was_stopped_goes_on() {
    let model = model(EXTRAS[1]);
    let expected = run(&model, &SearchOptions::default());
    for threads in [1, 2] {
        let place = TemporaryFile::new(&format!("stopped-{threads}"));
        let options = SearchOptions { threads, checkpoint: place.path(), ..SearchOptions::default() };
        let limits = [
            SearchOptions { max_states: Some(5000), ..options.clone() },
            SearchOptions { max_depth: Some(9), ..options.clone() },
            SearchOptions { max_memory: Some(1_300_000), ..options.clone() },
        ];
        for limited in limits {
            let report = run(&model, &limited);
            assert_eq!(report.verdict, Verdict::Inconclusive, "{limited:?}");
            let resumed = SearchOptions { threads: 3 - threads, resume: place.path(), ..SearchOptions::default() };
            assert_eq!(run(&model, &resumed), expected, "{limited:?}");
        }
        // Step by step, each search going on from the last.
        let mut options = SearchOptions { threads, checkpoint: place.path(), ..SearchOptions::default() };
        let mut report = check(&model, &options, &mut Killer { reports: 0, checkpoint_at: 1, stops: true });
        let mut steps = 0;
        while let Ok(Report { stop_reason: Some(StopReason::Interrupted), .. }) = report {
            options.resume = place.path();
            report = check(&model, &options, &mut Killer { reports: 0, checkpoint_at: 1, stops: true });
            steps += 1;
            assert!(steps < 10_000, "each search gets further");
        }
        assert_eq!(without_memory(report.expect("a report")), expected, "{steps} steps");
    }
}

fn refuse(model: &Model, path: &Path) -> String {
    let options = SearchOptions { resume: Some(path.to_owned()), ..SearchOptions::default() };
    match check(model, &options, &mut Silent) {
        Err(EngineError::Resume { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_a_checkpoint_of_this_search_is_refused() {
    let place = TemporaryFile::new("refused");
    let model_of_it = model(EXTRAS[0]);
    assert!(!refuse(&model_of_it, &place.0).is_empty());
    let options = SearchOptions { max_states: Some(3000), checkpoint: place.path(), ..SearchOptions::default() };
    run(&model_of_it, &options);
    assert!(refuse(&model(EXTRAS[1]), &place.0).contains("another model"));
    let bytes = fs::read(&place.0).expect("there is a checkpoint");
    for length in [0, 10, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&place.0, &bytes[..length]).expect("the file can be written");
        assert!(refuse(&model_of_it, &place.0).contains("damaged"), "{length} bytes");
    }
    for position in [60, 200, bytes.len() / 2, bytes.len() - 20] {
        let mut damaged = bytes.clone();
        damaged[position] ^= 0x10;
        fs::write(&place.0, damaged).expect("the file can be written");
        refuse(&model_of_it, &place.0);
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_last_one() {
    let model = model(EXTRAS[0]);
    let options = SearchOptions {
        max_states: Some(3000),
        checkpoint: Some(std::env::temp_dir().join("no/such/folder/checkpoint")),
        ..SearchOptions::default()
    };
    for threads in [1, 2] {
        let report = run(&model, &SearchOptions { threads, ..options.clone() });
        assert_eq!(report.verdict, Verdict::Inconclusive);
        assert!(matches!(report.stop_reason, Some(StopReason::CheckpointFailed(_))), "{:?}", report.stop_reason);
    }
}

#[test]
fn a_search_that_was_stopped_among_its_starts_runs_them_all() {
    let model = parse(
        "var n: 0..100; startstate begin n := 0; end; startstate begin n := 30; end; startstate begin n := 50; end;
        rule \"up\" n < 20 | n > 49 & n < 100 ==> begin n := n + 1; end;
        invariant \"low\" n != 55;"
            .to_owned(),
    );
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    let expected = run(&model, &options);
    assert_eq!(expected.verdict, Verdict::Violated);
    for threads in [1, 2] {
        let place = TemporaryFile::new(&format!("starts-{threads}"));
        let limited = SearchOptions { threads, max_states: Some(1), checkpoint: place.path(), ..options.clone() };
        assert_eq!(run(&model, &limited).stop_reason, Some(StopReason::StateLimit(1)));
        for threads in [1, 2] {
            let resumed = SearchOptions { threads, resume: place.path(), ..options.clone() };
            assert_eq!(run(&model, &resumed), expected);
        }
    }
}
