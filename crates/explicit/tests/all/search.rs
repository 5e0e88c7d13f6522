//! Searches: limits, deadlock, selection of properties, liveness, the graph, walks.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use quotient_ir::{
    DeadlockMode, FaultKind, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, Source, TableIndex, Trace,
    Violation,
};
use quotient_kit::LoadOptions;
use quotient_murphi::LANGUAGE;
use quotient_search::{
    Edge, Narrowing, Observer, Progress, Report, SearchOptions, SearchOrder, Silent, Spill, StopReason, StoreMode,
    Subject, Verdict, ViolationLimit,
};
use quotient_systems::walk;
use quotient_testkit::search::check;

fn model(text: &str) -> Model {
    match LANGUAGE.load(Source::new("test.m", text), &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{:?}", diagnostics.iter().map(|entry| &entry.message).collect::<Vec<_>>()),
    }
}

fn run(text: &str, options: &SearchOptions) -> Report {
    check(&model(text), options, &mut Silent).expect("a report")
}

fn verdict(report: &Report, subject: Subject) -> Verdict {
    let found = report.properties.iter().find(|property| property.subject == subject);
    found.unwrap_or_else(|| panic!("no verdict on {subject:?}")).verdict
}

fn property(number: usize) -> Subject {
    Subject::Property(PropertyId::from_position(number))
}

fn trace(report: &Report) -> &Trace {
    let mut traces = report.properties.iter().filter_map(|property| property.trace.as_ref());
    let trace = traces.next().expect("a violation has a trace");
    assert!(traces.next().is_none(), "one violation");
    trace
}

const BOTH_ORDERS: [SearchOrder; 2] = [SearchOrder::BreadthFirst, SearchOrder::DepthFirst];

/// Counts up and wraps around.
const CYCLE: &str = "
    var n: 0..99;
    startstate begin n := 0; end;
    rule \"up\" true ==> begin n := (n + 1) % 100; end;
    invariant \"small\" n < 100;
    cover \"early\" n = 3;
    cover \"late\" n = 90;
    liveness \"again\" n = 50;
";

#[test]
fn a_finished_search_decides_everything() {
    for order in BOTH_ORDERS {
        let report = run(CYCLE, &SearchOptions { order, ..SearchOptions::default() });
        assert_eq!((report.verdict, report.stop_reason.clone()), (Verdict::Holds, None));
        assert_eq!((report.states, report.transitions, report.depth), (100, 100, 99));
        assert!(report.properties.iter().all(|property| property.verdict == Verdict::Holds));
        let subjects: Vec<Subject> = report.properties.iter().map(|property| property.subject).collect();
        let expected = [property(0), property(1), property(2), property(3), Subject::Deadlock, Subject::Errors];
        assert_eq!(subjects, expected);
    }
}

#[test]
fn limits_leave_open_what_is_not_decided() {
    for order in BOTH_ORDERS {
        let options = |change: fn(&mut SearchOptions)| {
            let mut options = SearchOptions { order, ..SearchOptions::default() };
            change(&mut options);
            options
        };
        let limited = [
            (options(|options| options.max_states = Some(20)), StopReason::StateLimit(20)),
            (options(|options| options.max_depth = Some(20)), StopReason::DepthLimit(20)),
        ];
        for (options, reason) in limited {
            let report = run(CYCLE, &options);
            assert_eq!(report.verdict, Verdict::Inconclusive);
            assert_eq!(report.stop_reason, Some(reason));
            assert!(report.states == 20 || report.states == 21);
            assert_eq!(verdict(&report, property(0)), Verdict::Inconclusive);
            // What was reached is reached, whatever else there is.
            assert_eq!(verdict(&report, property(1)), Verdict::Holds);
            assert_eq!(verdict(&report, property(2)), Verdict::Inconclusive);
            assert_eq!(verdict(&report, property(3)), Verdict::Inconclusive);
            assert_eq!(verdict(&report, Subject::Deadlock), Verdict::Inconclusive);
        }
        let tight = SearchOptions { max_memory: Some(1000), ..options(|_| {}) };
        assert_eq!(run(CYCLE, &tight).stop_reason, Some(StopReason::MemoryLimit(1000)));
    }
    // A limit that is not reached does not matter.
    let roomy = SearchOptions { max_states: Some(100), max_depth: Some(100), ..SearchOptions::default() };
    assert_eq!(run(CYCLE, &roomy).verdict, Verdict::Holds);
}

/// Stops after some reports of progress.
struct Impatient {
    reports: u32,
    last: Progress,
}

impl Observer for Impatient {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<StopReason> {
        assert!(progress.states >= self.last.states && progress.transitions >= self.last.transitions);
        assert!(progress.frontier <= progress.states);
        self.last = *progress;
        if self.reports == 0 {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        self.reports -= 1;
        ControlFlow::Continue(())
    }
}

#[test]
fn an_observer_can_stop_any_search() {
    let million = "
        var a: 0..999; b: 0..999;
        startstate begin a := 0; b := 0; end;
        rule a < 999 ==> begin a := a + 1; end;
        rule b < 999 ==> begin b := b + 1; end;";
    // No rule ever fires, but there are very many instances to try.
    let idle = "
        type bits: array [0..59] of boolean;
        var a: boolean;
        startstate begin a := true; end;
        ruleset p: bits do rule !a & p[0] ==> begin a := p[1]; end; end;";
    // Very many starts.
    let starts = "
        type bits: array [0..59] of boolean;
        var a: bits;
        ruleset p: bits do startstate begin a := p; end; end;
        rule true ==> begin end;";
    for text in [million, idle, starts] {
        for order in BOTH_ORDERS {
            let mut observer = Impatient { reports: 3, last: Progress::default() };
            let options = SearchOptions { order, deadlock: DeadlockMode::Off, ..SearchOptions::default() };
            let report = check(&model(text), &options, &mut observer).expect("a report");
            assert_eq!(report.stop_reason, Some(StopReason::Interrupted));
            assert_eq!(report.verdict, Verdict::Inconclusive);
        }
    }
}

#[test]
fn deadlock_is_what_the_mode_says() {
    let stuck = "var n: 0..3; startstate begin n := 0; end; rule n < 3 ==> begin n := n + 1; end;";
    let stuttering = "var n: 0..3; startstate begin n := 0; end;
        rule n < 3 ==> begin n := n + 1; end; rule true ==> begin end;";
    // As if the rule had not fired.
    let pruned = "var n: 0..3; startstate begin n := 0; end;
        rule n < 3 ==> begin n := n + 1; end; rule true ==> begin assume false; end;";
    // The rule fires; that its successor is dropped is another matter.
    let dropped = "var n: 0..4; startstate begin n := 0; end;
        rule true ==> begin n := n + 1; end; assume n < 4;";
    let cases = [
        (stuck, [false, true, true]),
        (stuttering, [false, false, true]),
        (pruned, [false, true, true]),
        (dropped, [false, false, false]),
    ];
    for (text, expected) in cases {
        for (mode, found) in
            [DeadlockMode::Off, DeadlockMode::Stuck, DeadlockMode::Stuttering].into_iter().zip(expected)
        {
            for order in BOTH_ORDERS {
                let report = run(text, &SearchOptions { order, deadlock: mode, ..SearchOptions::default() });
                let expected = if found { Verdict::Violated } else { Verdict::Holds };
                assert_eq!(report.verdict, expected, "{mode:?} in {text}");
                assert_eq!(report.states, 4);
                if found {
                    assert_eq!(trace(&report).steps.len(), 4);
                    assert_eq!(trace(&report).violation, Some(Violation::Deadlock(mode)));
                    assert_eq!(report.stop_reason, Some(StopReason::Violation));
                }
            }
        }
    }
}

/// The second invariant fails first, then the first; an error comes last.
const FAILURES: &str = "
    var n: 0..9;
    startstate begin n := 0; end;
    rule true ==> begin n := n + 1; end;
    invariant \"first\" n < 5;
    invariant \"second\" n != 3;
    invariant \"third\" n < 100;
    assume n != 20;
";

#[test]
fn only_selected_properties_are_checked() {
    let select = |numbers: &[usize]| {
        let properties = numbers.iter().map(|&number| PropertyId::from_position(number)).collect();
        SearchOptions { properties: Some(properties), ..SearchOptions::default() }
    };
    let report = run(FAILURES, &SearchOptions::default());
    assert_eq!((report.states, report.transitions), (3, 3));
    assert_eq!(verdict(&report, property(0)), Verdict::Inconclusive);
    assert_eq!(verdict(&report, property(1)), Verdict::Violated);
    assert_eq!(trace(&report).steps.len(), 4);

    let report = run(FAILURES, &select(&[0]));
    assert_eq!((report.states, report.transitions), (5, 5));
    assert_eq!(verdict(&report, property(0)), Verdict::Violated);
    assert!(report.properties.iter().all(|entry| entry.subject != property(1)));

    // The error is always the end; whether it is a violation can be chosen.
    let report = run(FAILURES, &select(&[2]));
    assert_eq!((report.states, report.transitions), (10, 9));
    assert_eq!(verdict(&report, Subject::Errors), Verdict::Violated);
    assert_eq!(verdict(&report, property(2)), Verdict::Inconclusive);
    let Some(Violation::Fault { fault, .. }) = &trace(&report).violation else { panic!("{report:?}") };
    assert_eq!(fault.kind, FaultKind::OutOfRange);
    assert_eq!(report.fault, None);
    let judged = trace(&report).clone();

    let report = run(FAILURES, &SearchOptions { errors: false, ..select(&[2]) });
    assert_eq!(report.verdict, Verdict::Inconclusive);
    assert!(matches!(report.stop_reason, Some(StopReason::Fault(_))));
    assert!(report.properties.iter().all(|entry| entry.subject != Subject::Errors));
    // The run to it is there all the same.
    let run_to_it = report.fault.as_ref().expect("a run");
    assert_eq!(*run_to_it, judged);

    let report = run(FAILURES, &SearchOptions { deadlock: DeadlockMode::Off, errors: false, ..select(&[]) });
    assert_eq!((report.verdict, report.properties.len()), (Verdict::Inconclusive, 0));
}

#[test]
fn faults_have_traces_wherever_they_happen() {
    let cases = [
        ("var n: 0..3; startstate begin n := 4; end; rule true ==> begin end;", 0),
        ("var n: 0..3; startstate begin undefine n; end; rule n = 1 ==> begin end;", 1),
        ("var n: 0..3; startstate begin undefine n; end; rule true ==> begin n := n + 1; end;", 1),
        ("var n: 0..3; startstate begin undefine n; end; rule true ==> begin end; invariant n = 1;", 1),
        ("var n: 0..3; startstate begin undefine n; end; rule true ==> begin end; assume n = 1;", 1),
        ("var n: 0..3; startstate begin undefine n; end; rule true ==> begin end; cover n = 1;", 1),
        ("var n: 0..3; startstate begin undefine n; end; rule true ==> begin end; liveness n = 1;", 1),
        ("var n: 0..3; startstate begin n := 0; end; rule true ==> begin undefine n; end; invariant n = 0;", 2),
        ("var n: 0..3; startstate begin n := 0; end; rule true ==> begin error \"no\"; end;", 1),
    ];
    for (text, steps) in cases {
        for order in BOTH_ORDERS {
            let report = run(text, &SearchOptions { order, ..SearchOptions::default() });
            assert_eq!(verdict(&report, Subject::Errors), Verdict::Violated, "{text}");
            assert_eq!(trace(&report).steps.len(), steps, "{text}");
        }
    }
}

#[test]
fn a_step_that_does_not_end_is_not_a_violation() {
    let text = "var n: 0..3; startstate begin n := 0; end;
        rule n = 2 ==> begin while true do end; end; rule n < 3 ==> begin n := n + 1; end; cover n = 1;";
    let report = run(text, &SearchOptions::default());
    assert_eq!(report.verdict, Verdict::Inconclusive);
    assert!(matches!(report.stop_reason, Some(StopReason::Exhausted(_))), "{:?}", report.stop_reason);
    assert_eq!(verdict(&report, property(0)), Verdict::Holds);
    assert_eq!(verdict(&report, Subject::Errors), Verdict::Inconclusive);
}

#[test]
fn missed_covers_are_violations_without_a_trace() {
    let text = "var n: 0..3; startstate begin n := 0; end;
        rule true ==> begin n := (n + 1) % 3; cover \"in a step\" n = 2; end;
        cover \"missed\" n = 3; cover \"hit\" n = 2;";
    let report = run(text, &SearchOptions::default());
    let lowered = model(text);
    for entry in &report.properties {
        let Subject::Property(id) = entry.subject else { continue };
        let missed = lowered.properties[id].name.as_deref() == Some("missed");
        assert_eq!(entry.verdict, if missed { Verdict::Violated } else { Verdict::Holds });
        assert!(entry.trace.is_none());
    }
    assert_eq!((report.verdict, report.stop_reason), (Verdict::Violated, None));
}

/// A generator of numbers that need not be good.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Liveness on random graphs, compared with reachability by brute force.
#[test]
fn liveness_is_reachability_from_everywhere() {
    let mut numbers = Numbers(1);
    let mut violated = 0;
    for _ in 0..300 {
        let nodes = 2 + numbers.below(9);
        let edges: Vec<(u64, u64)> =
            (0..nodes + numbers.below(2 * nodes)).map(|_| (numbers.below(nodes), numbers.below(nodes))).collect();
        // The condition depends on a parameter; node `goals[p]` satisfies it.
        let goals: Vec<u64> = (0..2).map(|_| numbers.below(nodes)).collect();
        let mut text = format!("var s: 0..{}; startstate begin s := 0; end;\n", nodes - 1);
        for (from, to) in &edges {
            text += &format!("rule s = {from} ==> begin s := {to}; end;\n");
        }
        text += "rule true ==> begin end;\n";
        text += &format!("ruleset p: 0..1 do liveness (p = 0 ? s = {} : s = {}); end;", goals[0], goals[1]);

        let reach = |from: u64| {
            let mut reached = BTreeSet::from([from]);
            let mut queue = vec![from];
            while let Some(node) = queue.pop() {
                for &(_, to) in edges.iter().filter(|edge| edge.0 == node) {
                    if reached.insert(to) {
                        queue.push(to);
                    }
                }
            }
            reached
        };
        let holds = reach(0).into_iter().all(|node| goals.iter().all(|goal| reach(node).contains(goal)));
        for order in BOTH_ORDERS {
            let options = SearchOptions { order, deadlock: DeadlockMode::Off, ..SearchOptions::default() };
            let report = run(&text, &options);
            assert_eq!(report.verdict == Verdict::Holds, holds, "{text}");
            if !holds {
                violated += 1;
                let trace = trace(&report);
                let last = trace.steps.last().expect("a run has a start").state.0[0].expect("it is defined");
                let Some(Violation::Unreachable { arguments, .. }) = &trace.violation else { panic!("{trace:?}") };
                let goal = goals[arguments[0] as usize];
                assert!(!reach(last as u64).contains(&goal), "{text}");
            }
        }
    }
    assert!((100..500).contains(&violated), "{violated} of 600 are violated");
}

/// Keeps the graph.
#[derive(Default)]
struct Graph {
    states: Vec<(Vec<u64>, bool)>,
    edges: Vec<(u64, Vec<i64>, u64)>,
}

impl Observer for Graph {
    fn wants_graph(&self) -> bool {
        true
    }
    fn state(&mut self, number: u64, state: &[u64], initial: bool) {
        assert_eq!(number, self.states.len() as u64);
        self.states.push((state.to_vec(), initial));
    }
    fn edge(&mut self, edge: Edge<'_>) {
        let Edge { from, instance, to, concrete, changes } = edge;
        // Without a quotient a state is its own representative.
        assert_eq!((self.states[to as usize].0.as_slice(), from != to), (concrete, changes));
        assert!((from.max(to) as usize) < self.states.len());
        self.edges.push((from, instance.arguments.to_vec(), to));
    }
}

#[test]
fn the_graph_is_complete_and_in_order() {
    let text = "
        var n: 0..9;
        startstate begin n := 0; end;
        startstate begin n := 5; end;
        ruleset k: 1..2 do rule n + k <= 9 ==> begin n := n + k; end; end;
        rule n = 9 ==> begin n := 0; end;
        assume n != 7;";
    let lowered = model(text);
    for order in BOTH_ORDERS {
        let mut graph = Graph::default();
        let options = SearchOptions { order, ..SearchOptions::default() };
        let report = check(&lowered, &options, &mut graph).expect("a report");
        assert_eq!(report.states, 9);
        assert_eq!(graph.states.len(), 9);
        assert_eq!(graph.states.iter().filter(|(_, initial)| *initial).count(), 2);
        let layout = Layout::new(&lowered).expect("a layout");
        let value = |number: u64| layout.unpack(&graph.states[number as usize].0).0[0].expect("it is defined");
        let mut edges: Vec<(i64, i64)> = graph.edges.iter().map(|&(from, _, to)| (value(from), value(to))).collect();
        edges.sort_unstable();
        let mut expected = vec![(9, 0)];
        for from in [0, 1, 2, 3, 4, 5, 6, 8, 9] {
            for step in [1, 2] {
                if from + step <= 9 && from + step != 7 {
                    expected.push((from, from + step));
                }
            }
        }
        expected.sort_unstable();
        assert_eq!(edges, expected);
        // Two more steps lead to the state that is dropped.
        assert_eq!(report.transitions, edges.len() as u64 + 2);
        let plain = check(&lowered, &options, &mut Silent).expect("a report");
        assert_eq!(plain, report);
    }
}

#[test]
fn walks_show_what_can_be_done() {
    let lowered = model(FAILURES);
    let layout = Layout::new(&lowered).expect("a layout");
    let interpreter = Interpreter::new(&lowered, &layout);
    let mut state = match walk::starts(&interpreter).next().expect("a start").outcome {
        Outcome::Next { state, .. } => state,
        other => panic!("{other:?}"),
    };
    let mut steps = 0;
    loop {
        assert_eq!(walk::satisfies_assumptions(&interpreter, &state), Ok(true));
        if let Some(violation) = walk::violated_invariant(&interpreter, &state) {
            let Violation::Property { property, .. } = violation else { panic!("{violation:?}") };
            assert_eq!(lowered.properties[property].kind, PropertyKind::Invariant);
            break;
        }
        let choice = walk::successors(&interpreter, &state).next().expect("a choice");
        let Outcome::Next { state: next, .. } = choice.outcome else { panic!("{choice:?}") };
        state = next;
        steps += 1;
    }
    assert_eq!(steps, 3);
}

/// Several counters: wide levels, and something wrong in the middle of one.
fn counters(extra: &str) -> String {
    format!(
        "const N: 7;
        type id: 1..N; count: 0..3;
        var c: array[id] of count; last: id;
        startstate begin for i: id do c[i] := 0; end; last := 1; end;
        ruleset i: id do
          rule \"up\" c[i] < 3 ==> begin c[i] := c[i] + 1; last := i; end;
          rule \"down\" c[i] = 3 & last != i ==> begin c[i] := 0; end;
        end;
        {extra}"
    )
}

/// What is asked of the counters: nothing, and things that hold, do not hold, go wrong or are reached
/// at different moments.
fn questions() -> Vec<String> {
    let sum = "(c[1] + c[2] + c[3] + c[4] + c[5] + c[6] + c[7])";
    vec![
        String::new(),
        format!("invariant \"sum\" {sum} < 12 | c[3] != 2;"),
        format!("invariant \"order\" !({sum} = 9 & c[7] = 2 & c[1] = 1); invariant \"sum\" {sum} < 12 | c[3] != 2;"),
        format!("rule \"wrong\" {sum} = 11 & c[2] = 3 ==> begin assert \"never\" c[1] < 2; end;"),
        format!("cover \"far\" {sum} = 19; cover \"near\" {sum} = 10; cover \"never\" {sum} = 40;"),
        format!("assume \"small\" {sum} < 9; invariant \"pair\" c[1] + c[2] < 6;"),
        format!(
            "rule \"cover\" {sum} = 10 ==> begin cover \"reached\" c[1] = 3; end; invariant \"x\" {sum} != 10 | c[7] < 3;"
        ),
    ]
}

#[test]
fn threads_change_nothing() {
    for extra in questions() {
        let text = counters(&extra);
        for max_states in [None, Some(1), Some(7000)] {
            for max_depth in [None, Some(6)] {
                let alone = SearchOptions { max_states, max_depth, statistics: true, ..SearchOptions::default() };
                let expected = run(&text, &alone);
                for threads in [2, 5] {
                    let report = run(&text, &SearchOptions { threads, ..alone.clone() });
                    // Only the memory may differ.
                    assert_eq!(
                        Report { memory_bytes: 0, ..report },
                        Report { memory_bytes: 0, ..expected.clone() },
                        "{extra}, {threads} threads"
                    );
                }
            }
        }
    }
}

/// Searches with so little memory that they go on on disk: with nothing in memory, and with about half of
/// it.
fn check_on_disk(text: &str, options: &SearchOptions) {
    let options = &SearchOptions { statistics: true, ..options.clone() };
    let expected = run(text, options);
    let spill = Some(Spill { folder: std::env::temp_dir(), max_bytes: None });
    for memory in [1, 1_200_000] {
        for threads in [1, 2] {
            let limited = SearchOptions { threads, max_memory: Some(memory), spill: spill.clone(), ..options.clone() };
            let report = run(text, &limited);
            assert_eq!(
                Report { memory_bytes: 0, disk_bytes: 0, words: 0, ..report },
                // In memory, states may be packed by the values that occur.
                Report { memory_bytes: 0, words: 0, ..expected.clone() },
                "{text}, {memory} bytes, {threads} threads"
            );
        }
    }
}

#[test]
fn searches_on_disk_find_the_same() {
    for extra in questions() {
        check_on_disk(&counters(&extra), &SearchOptions::default());
    }
    for (max_states, max_depth) in [(Some(1), None), (Some(7000), None), (Some(15_000), None), (None, Some(6))] {
        let options = SearchOptions { max_states, max_depth, ..SearchOptions::default() };
        check_on_disk(&counters(&questions()[6]), &options);
    }
}

#[test]
fn searches_on_disk_take_wide_states_and_many_starts() {
    // Three words a state; starts that lead to the same states; some are dropped; deadlocks.
    let text = |rest: &str| {
        format!(
            "const N: 5; type id: 1..N;
            var c: array[id] of 0..4; big: array[id] of 0..1000000000;
            ruleset first: 0..40000; k: 0..1 do startstate begin
              for i: id do c[i] := 0; big[i] := i * (first / 4); end;
            end; end;
            ruleset i: id do
              rule \"up\" c[i] < 4 & big[2] < 100 ==> begin c[i] := c[i] + 1; end;
            end;
            {rest}"
        )
    };
    for deadlock in [DeadlockMode::Off, DeadlockMode::Stuck, DeadlockMode::Stuttering] {
        check_on_disk(&text(""), &SearchOptions { deadlock, ..SearchOptions::default() });
    }
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    check_on_disk(
        &text("assume \"not all\" big[1] > 20; invariant \"top\" c[1] + c[2] + c[3] < 11 | big[5] != 125;"),
        &options,
    );
    check_on_disk(&text("invariant \"start\" big[1] < 9990;"), &options);
    check_on_disk(&text(""), &SearchOptions { max_states: Some(9000), ..options });
}

#[test]
fn a_disk_that_is_full_or_missing_ends_the_search() {
    let text = counters("");
    let limited = |folder: std::path::PathBuf, max_bytes| {
        let spill = Some(Spill { folder, max_bytes });
        run(&text, &SearchOptions { max_memory: Some(1), spill, ..SearchOptions::default() })
    };
    let report = limited(std::env::temp_dir(), Some(200_000));
    assert_eq!(report.stop_reason, Some(StopReason::DiskLimit(200_000)));
    assert_eq!(report.verdict, Verdict::Inconclusive);
    let report = limited("/there/is/no/such/folder".into(), None);
    assert!(matches!(report.stop_reason, Some(StopReason::SpillFailed(_))), "{:?}", report.stop_reason);
    assert_eq!(report.verdict, Verdict::Inconclusive);
}

#[test]
fn threads_find_the_same_deadlock() {
    for deadlock in [DeadlockMode::Stuck, DeadlockMode::Stuttering] {
        let text = "
            const N: 9; type id: 1..N;
            var c: array[id] of 0..3;
            startstate begin for i: id do c[i] := 0; end; end;
            ruleset i: id do
              rule \"up\" c[i] < 3 & !(c[2] = 2 & c[5] = 1 & c[9] = 1) ==> begin c[i] := c[i] + 1; end;
            end;";
        let alone = SearchOptions { deadlock, ..SearchOptions::default() };
        let expected = run(text, &alone);
        assert_eq!(expected.verdict, Verdict::Violated);
        let report = run(text, &SearchOptions { threads: 2, ..alone });
        assert_eq!(Report { memory_bytes: 0, ..report }, Report { memory_bytes: 0, ..expected });
    }
}

#[test]
fn approximate_stores_say_so_and_find_the_same() {
    let sum = "(c[1] + c[2] + c[3] + c[4] + c[5] + c[6] + c[7])";
    for extra in [String::new(), format!("invariant \"sum\" {sum} < 12 | c[3] != 2;")] {
        let text = counters(&extra);
        let exact = run(&text, &SearchOptions::default());
        assert_eq!(exact.approximation, None);
        for store in [StoreMode::Compact, StoreMode::Bitstate { bytes: 1 << 24 }] {
            let report = run(&text, &SearchOptions { store, threads: 2, ..SearchOptions::default() });
            let probability = report.approximation.expect("it is labelled").omission_probability;
            assert!(probability > 0.0 && probability < 1e-3, "{probability}");
            assert_eq!((report.states, report.transitions), (exact.states, exact.transitions), "{store:?}");
            // The runs, too, although their states were forgotten.
            assert_eq!(report.properties, exact.properties, "{store:?}");
        }
    }
    // A table that is far too small misses states, and the figure shows it.
    let tiny =
        run(&counters(""), &SearchOptions { store: StoreMode::Bitstate { bytes: 64 }, ..SearchOptions::default() });
    assert!(tiny.states < 2000, "{}", tiny.states);
    assert!(tiny.approximation.expect("it is labelled").omission_probability > 0.5);
}

/// Searches with stores that are dense from the beginning, or become so on the way, have the same results, and the same
/// runs.
#[test]
fn dense_stores_find_the_same() {
    let wide = |text: &str| {
        let text = text.replace("last: id;", "last: id; wide: array[1..40] of 0..1000000;");
        text.replace("last := 1; end;", "last := 1; for i: 1..40 do wide[i] := i; end; end;")
    };
    let texts: Vec<String> = questions().iter().map(|question| counters(question)).collect();
    // Narrow states would be left of the wide ones if they were packed by what occurs.
    let cases = texts.iter().map(|text| (text.clone(), Narrowing::default()));
    let wide = texts[..2].iter().flat_map(|text| [Narrowing::NEVER, Narrowing::default()].map(|it| (wide(text), it)));
    for (number, (text, narrowing)) in cases.chain(wide).enumerate() {
        let violations = if number % 2 == 0 { ViolationLimit::First } else { ViolationLimit::All };
        let base = SearchOptions { violations, narrowing, ..SearchOptions::default() };
        let exact = run(&text, &base);
        let half = Some(exact.memory_bytes / 2);
        for (store, dense_from, threads) in [
            (StoreMode::Dense, None, 1),
            (StoreMode::Dense, None, 3),
            (StoreMode::Exact, half, 1),
            (StoreMode::Exact, half, 2),
        ] {
            let dense = run(&text, &SearchOptions { store, dense_from, threads, ..base.clone() });
            // Several threads pack states by what occurs only if there are more.
            if store == StoreMode::Dense && exact.stop_reason.is_none() && dense.words == exact.words {
                let (few, many) = (dense.memory_bytes, exact.memory_bytes);
                assert!(few < many, "{few} of {many} bytes, {} words", exact.words);
            }
            let same = |report: Report| Report { memory_bytes: 0, words: 0, ..report };
            assert_eq!(same(dense), same(exact.clone()), "{store:?}, {threads} threads: {text}");
        }
    }
}

#[test]
fn a_search_that_cannot_use_a_dense_store_says_so_or_keeps_another() {
    let dense = SearchOptions { store: StoreMode::Dense, ..SearchOptions::default() };
    for refused in [
        SearchOptions { order: SearchOrder::DepthFirst, ..dense.clone() },
        SearchOptions { checkpoint: Some("checkpoint".into()), ..dense.clone() },
        SearchOptions { cross_check: true, ..dense.clone() },
        dense.clone(),
    ] {
        // The last one because of its liveness property.
        let refusal = check(&model(CYCLE), &refused, &mut Silent).expect_err("it is refused").to_string();
        assert!(refusal.contains("dense store"), "{refusal}");
    }
    let becomes = SearchOptions { dense_from: Some(0), ..SearchOptions::default() };
    assert_eq!(run(CYCLE, &becomes).verdict, Verdict::Holds);
    assert_eq!(run(CYCLE, &SearchOptions { order: SearchOrder::DepthFirst, ..becomes }).verdict, Verdict::Holds);
}

/// A limit of memory that is too small for a dense store, too, ends the search.
#[test]
fn a_dense_store_keeps_the_limit() {
    let needed =
        run(&counters(""), &SearchOptions { store: StoreMode::Dense, ..SearchOptions::default() }).memory_bytes;
    for threads in [1, 2] {
        let max_memory = Some(needed / 2);
        let options = SearchOptions { store: StoreMode::Dense, max_memory, threads, ..SearchOptions::default() };
        let report = run(&counters(""), &options);
        assert_eq!(report.verdict, Verdict::Inconclusive);
        assert_eq!(report.stop_reason, Some(StopReason::MemoryLimit(needed / 2)));
    }
}

/// A search that does not fit into memory otherwise is finished by a store that becomes dense, on one thread, on several,
/// and on several in any order.
#[test]
fn a_store_that_becomes_dense_has_room_for_more() {
    // So many states that small tables and blocks do not matter.
    let text = counters("").replace("const N: 7;", "const N: 8;");
    let statistics = SearchOptions { statistics: true, ..SearchOptions::default() };
    let whole = run(&text, &statistics);
    let limit = whole.memory_bytes / 3 * 2;
    for (threads, ordered_states) in [(1, u64::MAX), (2, u64::MAX), (2, 1000)] {
        let tight = SearchOptions { threads, ordered_states, max_memory: Some(limit), ..statistics.clone() };
        assert_eq!(run(&text, &tight).stop_reason, Some(StopReason::MemoryLimit(limit)), "{threads} threads");
        let report = run(&text, &SearchOptions { dense_from: Some(limit / 2), ..tight });
        let same = |report: Report| Report { memory_bytes: 0, words: 0, ..report };
        assert_eq!(same(report), same(whole.clone()), "{threads} threads, {ordered_states} in order");
    }
}

#[test]
fn a_compact_store_takes_less_memory() {
    let text = counters("").replace("last: id;", "last: id; wide: array[1..40] of 0..1000000;");
    let text = text.replace("last := 1; end;", "last := 1; for i: 1..40 do wide[i] := i; end; end;");
    // Exact states would be packed by the values that occur.
    let exact = run(&text, &SearchOptions { narrowing: Narrowing::NEVER, ..SearchOptions::default() });
    let compact = run(&text, &SearchOptions { store: StoreMode::Compact, ..SearchOptions::default() });
    assert_eq!((compact.states, compact.transitions), (exact.states, exact.transitions));
    assert!(2 * compact.memory_bytes < exact.memory_bytes, "{} of {}", compact.memory_bytes, exact.memory_bytes);
}
