//! Limits are limits, in every phase; whoever has a control can cancel. A program of its own, because it measures time and
//! the memory of its process.

#[path = "all/models.rs"]
mod models;

use std::time::{Duration, Instant};

use models::{lock, murphi};
use quotient::{
    Control, Error, Limits, Observer, Options, PartialOrder, Phase, Plan, Progress, Silent, StopReason, Symmetry,
    Verdict,
};

/// How long something may go on after it was to stop.
const LATE: Duration = Duration::from_secs(1);

fn within(timeout: Duration) -> Limits {
    Limits { timeout: Some(timeout), ..Limits::default() }
}

/// More states than anybody visits: counters that are distinguished by their bounds.
fn endless() -> quotient::Model {
    let counters: Vec<String> = (0..9).map(|number| format!("c{number}: 0..{};", 40 + number)).collect();
    let starts: String = (0..9).map(|number| format!("c{number} := 0;")).collect();
    let rules: String = (0..9)
        .map(|number| {
            let most = 40 + number;
            format!("rule c{number} < {most} ==> begin c{number} := c{number} + 1; end;\n")
        })
        .collect();
    murphi(&format!("var {} startstate begin {starts} end;\n{rules}", counters.join(" ")))
}

/// All steps: a part of them is soon searched.
fn whole() -> Options {
    Options::default().partial_order(PartialOrder::Off)
}

/// Runs a check that takes much longer than the limit, and says how long it took.
fn stopped_in_time(model: &quotient::Model, options: &Options, timeout: Duration) -> quotient::Report {
    let plan = Plan::new(model, &options.clone().limits(within(timeout))).expect("a plan");
    let begun = Instant::now();
    let report = plan.run().expect("a report");
    let took = begun.elapsed();
    assert_eq!(report.stop_reason, Some(StopReason::TimeLimit(timeout)), "after {took:?}");
    assert_eq!(report.verdict, Verdict::Inconclusive);
    assert!(report.properties.iter().all(|property| property.verdict == Verdict::Inconclusive));
    assert!(took <= timeout + LATE, "{took:?}");
    report
}

#[test]
fn a_search_ends_in_time() {
    let report = stopped_in_time(&endless(), &whole().symmetry(Symmetry::Off), Duration::from_millis(700));
    assert!(report.states > 0);
}

#[test]
fn a_search_beside_which_something_is_tried_ends_in_time() {
    stopped_in_time(&endless(), &whole(), Duration::from_millis(1500));
}

/// Hundreds of thousands of instances, each of which reads everything: detection takes a minute.
fn slow_to_detect() -> quotient::Model {
    murphi(
        "type id: 1..480;
         var a, b, c: array [id] of 0..7;
         startstate begin for i: id do a[i] := i % 8; b[i] := (3 * i) % 8; c[i] := (5 * i) % 8; end; end;
         ruleset i: id; j: id do
           rule a[i] < b[j] & c[i] <= b[j] & i != j ==> begin
             a[i] := c[j]; c[i] := a[j]; b[j] := (b[i] + a[j] + i) % 8;
           end;
         end;",
    )
}

#[test]
fn detection_ends_in_time() {
    // A comparison waits for symmetries: without them it does not search at all.
    let options = Options::default().cross_check();
    let report = stopped_in_time(&slow_to_detect(), &options, Duration::from_millis(700));
    assert_eq!(report.states, 0);
}

#[test]
fn detection_alone_ends_in_time() {
    let control = Control::start(&within(Duration::from_millis(500)));
    let begun = Instant::now();
    let found = quotient::detect(&slow_to_detect(), &quotient::DetectOptions::default(), &control, &mut Silent);
    let found = found.map(|found| found.elapsed);
    assert!(matches!(found, Err(Error::Stopped(StopReason::TimeLimit(_)))), "{found:?}");
    assert!(begun.elapsed() <= Duration::from_millis(500) + LATE, "{:?}", begun.elapsed());
}

#[test]
fn loading_ends_in_time() {
    let control = Control::start(&within(Duration::ZERO));
    let machine = b"MACHINE m SETS S = {a, b} VARIABLES x INVARIANT x : S INITIALISATION x :: S END";
    let options = quotient::LoadOptions::default();
    let begun = Instant::now();
    // Whether it was fast enough or not: it does not take long.
    let _ = quotient::Model::from_bytes("m", machine, quotient::Language::B, &options, &control);
    assert!(begun.elapsed() <= LATE);
}

/// The work of detection is bounded by that of the search, which is estimated from quantifiers, also over sets.
#[test]
fn quantifiers_over_sets_are_work() {
    let machine = "MACHINE m SETS S = {a, b, c} VARIABLES x, y INVARIANT x <: S & y <: S
        INITIALISATION x, y : (x <: S & y <: S & x \\/ y = S)
        OPERATIONS swap(s) = PRE s <: S & !t . (t <: s => t <: x) THEN x := x - s || y := y \\/ s END END";
    let model = quotient::Model::from_text("m", machine, quotient::Language::B).expect("a model");
    let report = Plan::new(&model, &Options::default()).expect("a plan").run().expect("a report");
    assert_eq!(report.verdict, Verdict::Holds);
}

#[test]
fn a_limit_below_what_the_process_takes() {
    let options = Options::default().limits(Limits { max_memory: Some(1 << 16), ..Limits::default() });
    let report = Plan::new(&lock(), &options).expect("a plan").run().expect("a report");
    if cfg!(target_os = "linux") {
        assert_eq!(report.stop_reason, Some(StopReason::MemoryLimit(1 << 16)));
        assert!(report.notes[0].contains("is for the whole process"), "{:?}", report.notes);
    }
}

#[test]
fn whoever_has_the_control_can_cancel() {
    let plan = Plan::new(&endless(), &whole()).expect("a plan");
    let control = Control::default();
    let other = control.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        other.cancel();
        Instant::now()
    });
    let report = plan.run_with(&control, &mut Silent).expect("a report");
    let asked = canceller.join().expect("it cancels");
    assert!(asked.elapsed() <= LATE);
    assert_eq!(report.stop_reason, Some(StopReason::Interrupted));
}

#[test]
fn an_observer_is_told_what_is_done() {
    #[derive(Default)]
    struct Notes {
        phases: Vec<Phase>,
        most: u64,
    }
    impl Observer for Notes {
        fn phase(&mut self, phase: Phase) {
            self.phases.push(phase);
        }
        fn progress(&mut self, progress: &Progress, _elapsed: Duration) {
            self.most = self.most.max(progress.states);
        }
    }
    let limits = within(Duration::from_millis(800));
    let plan = Plan::new(&endless(), &whole().symmetry(Symmetry::Off).limits(limits)).expect("a plan");
    let mut notes = Notes::default();
    let report = plan.run_with(&Control::default(), &mut notes).expect("a report");
    assert_eq!(notes.phases.last(), Some(&Phase::Searching));
    assert!(notes.most > 0 && notes.most <= report.states);
}
