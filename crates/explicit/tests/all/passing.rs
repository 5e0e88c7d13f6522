//! States that are passed through: not stored, not counted, no claim about them; and nothing that happens
//! on the way gets lost.

use std::ops::ControlFlow;

use quotient_ir::{
    Action, DeadlockMode, Interpreter, Layout, Model, PropertyKind, Source, TableIndex, Trace, Valuation, Violation,
};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_search::{
    Edge, EngineError, Facts, FieldTest, Observer, Progress, Report, SearchOptions, SearchOrder, Silent, Spill,
    StopReason, Subject, Verdict,
};
use quotient_systems::{SpecialisedSystem, walk};
use quotient_testkit::search::check;

/// A model in Murphi; its invariant with the name `passing` tells which states are passed through.
fn model(text: &str) -> Model {
    let mut model = match LANGUAGE.load(Source::new("test.m", text), &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{:?}", diagnostics.iter().map(|entry| &entry.message).collect::<Vec<_>>()),
    };
    for id in model.properties.indices().collect::<Vec<_>>() {
        if model.properties[id].name.as_deref() == Some("passing") {
            model.properties[id].kind = PropertyKind::Passing;
        }
    }
    assert!(model.passing().next().is_some(), "something is passed through");
    model
}

/// How a search may be run: with the same result throughout.
fn ways() -> Vec<SearchOptions> {
    let base = SearchOptions::default();
    let spill = Some(Spill { folder: std::env::temp_dir(), max_bytes: None });
    vec![
        SearchOptions { threads: 2, ..base.clone() },
        SearchOptions { spill, max_memory: Some(1 << 20), ..base.clone() },
        base,
    ]
}

/// Runs a search in every way; the reports must be alike.
fn run(text: &str, options: &SearchOptions) -> Report {
    let model = model(text);
    // Liveness is not judged on disk.
    let judges = model.properties.iter().any(|property| property.kind == PropertyKind::AlwaysReachable);
    let ways = ways().into_iter().filter(|way| way.spill.is_none() || !judges);
    let reports = ways.map(|way| {
        let SearchOptions { threads, spill, max_memory, .. } = way;
        check(&model, &SearchOptions { threads, spill, max_memory, ..options.clone() }, &mut Silent).expect("a report")
    });
    let reports: Vec<Report> = reports.collect();
    for report in &reports[1..] {
        let figures = |it: &Report| (it.states, it.transitions, it.depth, it.verdict, it.properties.clone());
        assert_eq!(figures(report), figures(&reports[0]));
    }
    reports.into_iter().next_back().expect("there are ways")
}

fn verdict(report: &Report, subject: Subject) -> Verdict {
    let found = report.properties.iter().find(|property| property.subject == subject);
    found.unwrap_or_else(|| panic!("no verdict on {subject:?}")).verdict
}

fn property(number: usize) -> Subject {
    Subject::Property(TableIndex::from_position(number))
}

fn trace(report: &Report) -> &Trace {
    report.properties.iter().find_map(|property| property.trace.as_ref()).expect("a run")
}

/// The value of the first variable in each state of a run.
fn values(trace: &Trace) -> Vec<Option<i64>> {
    trace.steps.iter().map(|step| step.state.0[0]).collect()
}

/// Counts to eleven; every fourth number is stored.
const STRETCHES: &str = "
    var n: 0..11; busy: boolean;
    startstate begin n := 0; busy := false; end;
    rule \"up\" n < 11 ==> begin n := n + 1; busy := (n % 4) != 0; end;
    rule \"stay\" n = 11 ==> begin end;
    invariant \"passing\" busy;
";

#[test]
fn what_is_passed_through_is_neither_stored_nor_counted() {
    let options = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
    let report = run(STRETCHES, &options);
    assert_eq!(report.verdict, Verdict::Holds);
    assert_eq!((report.states, report.transitions, report.depth), (3, 12, 2));
    let all = run(STRETCHES, &SearchOptions { store_passing: true, ..options });
    assert_eq!((all.verdict, all.states, all.transitions, all.depth), (Verdict::Holds, 12, 12, 11));
}

#[test]
fn no_claim_is_about_a_state_that_is_passed_through() {
    let text = |claim: &str| format!("{STRETCHES} {claim}");
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    for store_passing in [false, true] {
        let options = SearchOptions { store_passing, ..options.clone() };
        for (claim, expected) in [
            ("invariant \"claim\" n != 3;", Verdict::Holds),
            ("invariant \"claim\" n != 8;", Verdict::Violated),
            ("cover \"claim\" n = 3;", Verdict::Violated),
            ("cover \"claim\" n = 8;", Verdict::Holds),
            ("liveness \"claim\" n = 8;", Verdict::Holds),
            ("liveness \"claim\" n = 10;", Verdict::Violated),
        ] {
            assert_eq!(verdict(&run(&text(claim), &options), property(1)), expected, "{claim} {store_passing}");
        }
    }
}

#[test]
fn a_run_shows_every_step() {
    let report = run(&format!("{STRETCHES} invariant \"small\" n < 8;"), &SearchOptions::default());
    assert_eq!(values(trace(&report)), (0..=8).map(Some).collect::<Vec<_>>());
    assert_eq!(report.states, 2);
}

#[test]
fn what_goes_wrong_on_the_way_is_found_with_its_run() {
    for (rule, steps) in [
        ("rule \"bad\" n = 6 ==> begin error \"six\"; end;", 6),
        ("rule \"bad\" n = 6 ==> begin assert n != 6 \"six\"; end;", 6),
        ("rule \"bad\" n = 5 ==> begin n := n + 7; end;", 5),
    ] {
        let report = run(&format!("{STRETCHES} {rule}"), &SearchOptions::default());
        assert_eq!(verdict(&report, Subject::Errors), Verdict::Violated, "{rule}");
        let trace = trace(&report);
        assert_eq!(values(trace), (0..=steps).map(Some).collect::<Vec<_>>(), "{rule}");
        assert!(matches!(trace.violation, Some(Violation::Fault { action: Action::Rule(_), .. })));
    }
}

#[test]
fn a_state_without_a_way_on_is_a_deadlock_wherever_it_is() {
    let text = "
        var n: 0..9; busy: boolean;
        startstate begin n := 0; busy := false; end;
        rule \"up\" n < 6 ==> begin n := n + 1; busy := true; end;
        rule \"down\" n < 3 ==> begin n := 0; busy := false; end;
        invariant \"passing\" busy;
    ";
    let report = run(text, &SearchOptions::default());
    assert_eq!(verdict(&report, Subject::Deadlock), Verdict::Violated);
    assert_eq!(values(trace(&report)), (0..=6).map(Some).collect::<Vec<_>>());
    let report = run(text, &SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() });
    assert_eq!((report.verdict, report.states), (Verdict::Holds, 1));

    // A step to itself is a way on, or not.
    let text = format!("{text} rule \"stay\" n = 6 ==> begin end;");
    for (deadlock, expected) in [(DeadlockMode::Stuck, Verdict::Holds), (DeadlockMode::Stuttering, Verdict::Violated)] {
        let report = run(&text, &SearchOptions { deadlock, ..SearchOptions::default() });
        assert_eq!(verdict(&report, Subject::Deadlock), expected, "{deadlock:?}");
    }
}

#[test]
fn loops_and_diamonds_on_the_way_end() {
    let text = "
        var n: 0..3; m: 0..3; busy: boolean;
        startstate begin n := 0; m := 0; busy := false; end;
        rule \"in\" !busy ==> begin busy := true; end;
        rule \"n\" busy ==> begin n := (n + 1) % 4; end;
        rule \"m\" busy ==> begin m := (m + 1) % 4; end;
        rule \"out\" busy & n = m ==> begin busy := false; end;
        invariant \"passing\" busy;
    ";
    let report = run(text, &SearchOptions::default());
    // Sixteen states are passed through from each of four, with two ways on each and one to leave from four.
    assert_eq!((report.verdict, report.states, report.transitions), (Verdict::Holds, 4, 4 * (1 + 16 * 2 + 4)));
    // Who never comes back moves all the same.
    let forever = text.replace("n = m", "false");
    let report = run(&forever, &SearchOptions::default());
    assert_eq!((report.verdict, report.states), (Verdict::Holds, 1));
}

#[test]
fn starts_may_be_passed_through() {
    let text = "
        var n: 0..9; busy: boolean;
        ruleset first: 0..1 do startstate begin n := first; busy := true; end; end;
        rule \"up\" n < 5 ==> begin n := n + 1; busy := n < 4; end;
        rule \"stay\" n = 5 ==> begin if n = 5 then cover \"five\" true; end; end;
        invariant \"passing\" busy;
        invariant \"small\" n != 5;
    ";
    let report = run(&text.replace("if n = 5 then cover \"five\" true; end;", ""), &SearchOptions::default());
    assert_eq!(verdict(&report, property(1)), Verdict::Violated);
    let trace = trace(&report);
    assert!(matches!(trace.steps[0].action, Action::Start(_)));
    assert_eq!(values(trace), [1, 2, 3, 4, 5].map(Some));
    // All of it is passed through, and what is wrong in it is found.
    let text = text.replace("busy := n < 4", "busy := true").replace("invariant \"small\" n != 5;", "");
    let text = text.replace("if n = 5 then cover \"five\" true; end;", "error \"five\";");
    let report = run(&text, &SearchOptions::default());
    assert_eq!((report.states, verdict(&report, Subject::Errors)), (0, Verdict::Violated));
    assert_eq!(report.properties.iter().filter(|property| property.trace.is_some()).count(), 1);
}

#[test]
fn covers_and_assumptions_on_the_way_count() {
    let covered = STRETCHES.replace("n := n + 1;", "n := n + 1; if n = 6 then cover \"six\" true; end;");
    let report = run(&covered, &SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() });
    assert_eq!((report.verdict, report.states), (Verdict::Holds, 3));
    // A state that is dropped leads nowhere, and a step that is dropped neither.
    let text = format!("{STRETCHES} assume \"not six\" n != 6;");
    for text in [text, STRETCHES.replace("n := n + 1;", "n := n + 1; assume n != 6;")] {
        let report = run(&text, &SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() });
        assert_eq!((report.verdict, report.states), (Verdict::Holds, 2));
    }
}

/// Stops a search after so many reports.
struct Patience(u32);

impl Observer for Patience {
    fn progress(&mut self, _: &Progress) -> ControlFlow<StopReason> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(StopReason::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

const ENDLESS: &str = "
    var n: 0..1000000000; busy: boolean;
    startstate begin n := 0; busy := false; end;
    rule \"up\" n < 1000000000 ==> begin n := n + 1; busy := true; end;
    rule \"out\" n = 1000000000 ==> begin n := 0; busy := false; end;
    invariant \"passing\" busy;
";

#[test]
fn a_long_way_ends_when_it_must() {
    for way in ways() {
        for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
            let options = SearchOptions { order, ..way.clone() };
            if order == SearchOrder::DepthFirst && options.spill.is_some() {
                let refused = check(&model(ENDLESS), &options, &mut Silent);
                assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
                continue;
            }
            let report = check(&model(ENDLESS), &options, &mut Patience(5)).expect("a report");
            assert_eq!((report.verdict, report.states), (Verdict::Inconclusive, 1));
            assert_eq!(report.stop_reason, Some(StopReason::Interrupted));
            // Memory has an end, too.
            let options = SearchOptions { max_memory: Some(100_000), spill: None, ..options };
            let report = check(&model(ENDLESS), &options, &mut Silent).expect("a report");
            assert_eq!(report.verdict, Verdict::Inconclusive);
        }
    }
}

/// Collects the edges of the graph.
#[derive(Default)]
struct Graph(Vec<(u64, u64)>);

impl Observer for Graph {
    fn wants_graph(&self) -> bool {
        true
    }
    fn edge(&mut self, edge: Edge<'_>) {
        self.0.push((edge.from, edge.to));
    }
}

#[test]
fn the_graph_has_the_stored_states() {
    let mut graph = Graph::default();
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    let report = check(&model(STRETCHES), &options, &mut graph).expect("a report");
    assert_eq!((report.states, report.transitions, graph.0), (3, 12, vec![(0, 1), (1, 2)]));
}

#[test]
fn a_walk_sees_every_state_and_no_claim_about_it() {
    let model = model(&format!("{STRETCHES} invariant \"even\" n % 2 = 0;"));
    let layout = Layout::new(&model).expect("a layout");
    let interpreter = Interpreter::new(&model, &layout);
    let state = |n: i64, busy: i64| Valuation(vec![Some(n), Some(busy)]);
    assert_eq!(walk::violated_invariant(&interpreter, &state(3, 1)), None);
    assert!(walk::violated_invariant(&interpreter, &state(3, 0)).is_some());
    assert_eq!(walk::successors(&interpreter, &state(3, 1)).count(), 1);
}

#[test]
fn whether_a_state_is_passed_through_is_mostly_told_by_its_bits() {
    let told = |text: &str| {
        let model = model(text);
        let layout = Layout::new(&model).expect("a layout");
        let interpreter = Interpreter::new(&model, &layout);
        let system = SpecialisedSystem::of_reachable(&interpreter);
        system.field_test(model.passing().next().expect("there is one"))
    };
    let text = |condition: &str| STRETCHES.replace("\"passing\" busy", &format!("\"passing\" {condition}"));
    for condition in ["busy", "n = 3", "n > 3"] {
        assert!(told(&text(condition)).is_some(), "{condition}");
    }
    assert_eq!(told(&text("n > 3 & busy")), None);
    let never = text("other").replace("busy: boolean;", "busy: boolean; other: boolean;");
    let never = never.replace("busy := false;", "busy := false; other := false;");
    assert_eq!(told(&never), Some(FieldTest::Constant(false)));
}
