//! Claims about events: textbook examples, and random pairs of processes against the definitions on graphs of a direct
//! interpreter. Violations are replayed by the engine.

use quotient_engines::{SearchOptions, Silent, StopReason, TemporalReport, Verdict, check_temporal};
use quotient_frontends::{Language, LoadOptions, load};
use quotient_ir::{Layout, Model, Source};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_csp::{RandomRefinement, random_refinement};

/// The reports on all claims of a model, which are about events.
fn reports(model: &Model, options: &SearchOptions) -> Result<Vec<TemporalReport>, String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let check = |property| check_temporal(model, &layout, property, None, options, &mut Silent);
    model.properties.indices().map(|property| check(property).map_err(|error| error.to_string())).collect()
}

/// Compares a random pair with the oracle: the number of assertions of each kind that hold and that do not.
fn compare(seed: u64, limit: usize) -> Result<Option<Vec<bool>>, String> {
    let pair = random_refinement(seed);
    let text = pair.text();
    let Some(graphs) = pair.graphs(limit) else { return Ok(None) };
    let told = |problem: String| format!("seed {seed}: {problem}\n{text}");
    let model = match load(Source::new("random.csp", text.as_str()), Language::Csp, &LoadOptions::default()) {
        Ok(loaded) => loaded.model,
        // Events that would have to synchronise, and are not constant.
        Err(diagnostics) if diagnostics.iter().any(|it| it.code == "varying-event") => return Ok(None),
        Err(diagnostics) => return Err(told(format!("{diagnostics:#?}"))),
    };
    let answers = RandomRefinement::answers(&graphs);
    let reports = reports(&model, &SearchOptions::default()).map_err(told)?;
    assert_eq!(reports.len(), answers.len());
    for (report, &answer) in reports.iter().zip(&answers) {
        let expected = if answer { Verdict::Holds } else { Verdict::Violated };
        if report.verdict != expected || report.trace.is_some() == answer {
            let name = model.properties[report.property].name.clone().unwrap_or_default();
            return Err(told(format!("`{name}`: {:?} ({:?}), not {expected:?}", report.verdict, report.stop_reason)));
        }
    }
    Ok(Some(answers))
}

#[test]
fn random_pairs_against_the_definitions() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(usual);
    let (pairs, first) = (number("QUOTIENT_RANDOM_REFINEMENTS", 250), number("QUOTIENT_RANDOM_SEED", 1));
    let seeds: Vec<u64> = (first..first + pairs).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare(seed, 60));
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[0]);
    let all: Vec<&Vec<bool>> = results.iter().filter_map(|it| it.as_ref().ok()?.as_ref()).collect();
    assert!(3 * all.len() > seeds.len(), "{} compared", all.len());
    for kind in 0..5 {
        let kinds = ["traces", "failures", "divergences", "divergencefree", "deterministic"];
        let values = || all.iter().flat_map(|answers| [answers[kind], answers[kind + 5]]);
        let (holds, fails) = (values().filter(|it| *it).count(), values().filter(|it| !it).count());
        assert!(10 * holds.min(fails) > all.len() / 4, "{}: {holds} hold, {fails} do not", kinds[kind]);
        // Shown with --nocapture, for records of long runs.
        let _ = std::io::Write::write_fmt(
            &mut std::io::stdout(),
            format_args!("{}: {holds} hold, {fails} do not\n", kinds[kind]),
        );
    }
}

/// Checks the assertions of a text: `+` holds, `-` does not.
fn check(text: &str, expected: &str) -> Vec<TemporalReport> {
    let loaded = load(Source::new("text.csp", text), Language::Csp, &LoadOptions::default());
    let model = loaded.map_err(|diagnostics| format!("{diagnostics:#?}")).expect("a right model").model;
    let reports = reports(&model, &SearchOptions::default()).expect("reports");
    let sign = |it: &TemporalReport| match it.verdict {
        Verdict::Holds => '+',
        Verdict::Violated => '-',
        Verdict::Inconclusive => '?',
    };
    let found: String = reports.iter().map(sign).collect();
    assert_eq!(found, expected, "{text}");
    reports
}

#[test]
fn choices() {
    // External and internal choice have the same traces.
    let text = "P = a -> Stop [] b -> Stop; Q = a -> Stop <> b -> Stop;
                #assert P refines Q; #assert Q refines P; #assert P refines<F> Q; #assert Q refines<F> P;
                #assert P refines<FD> Q; #assert Q refines<FD> P; #assert P deterministic; #assert Q deterministic;";
    let reports = check(text, "+++-+-+-");
    assert_eq!(reports[3].remarks, ["everything but {a} is refused here; the specification accepts at least {a, b}"]);
    assert_eq!(reports[7].remarks, ["τ leads to different states from here"]);
    // A prefix in front of a choice, or a choice of prefixes.
    let text = "P = a -> (b -> Stop [] c -> Stop); Q = a -> b -> Stop [] a -> c -> Stop;
                #assert Q refines P; #assert Q refines<F> P; #assert P refines<F> Q; #assert Q deterministic;";
    check(text, "+-+-");
}

#[test]
fn divergence() {
    let text = "A = a -> A; P = A \\ {a}; Q = b -> Q; R = b -> R [] P;
                #assert P divergencefree; #assert Q divergencefree; #assert R divergencefree;
                #assert Q refines<FD> P; #assert P refines<FD> Q; #assert P refines<F> Q; #assert Q refines<FD> R;";
    let reports = check(text, "-+-+-++");
    let trace = reports[0].trace.as_ref().expect("a run");
    assert_eq!(trace.cycle, Some(trace.steps.len() - 2));
}

#[test]
fn events_with_values_and_messages() {
    let text = "var x = 0; channel c 1; channel d 0;
                P = set.x{x = (x + 1) % 3;} -> P; Q = set.0 -> set.1 -> set.2 -> Q; W = set.0 -> set.1 -> W;
                S = c!1 -> c?y -> got.y -> S; T = (d!2 -> Stop) ||| (d?z -> z.z -> Stop);
                #alphabet S {};
                Spec = d.2 -> z.2 -> Stop;
                #assert P refines Q; #assert Q refines P; #assert P refines W; #assert T refines<FD> Spec;
                #assert P deterministic; #assert S refines S;";
    let reports = check(text, "++-+++");
    assert_eq!(reports[2].remarks, ["the specification cannot do set.2 here; it may do {set.0}"]);
    assert_eq!(reports[2].trace.as_ref().map(|trace| trace.steps.len()), Some(4));
}

#[test]
fn termination_is_an_event() {
    let text = "P = a -> Skip; Q = a -> Stop;
                #assert P refines Q; #assert Q refines P; #assert Q refines<F> P; #assert P refines<F> P;";
    let reports = check(text, "-+-+");
    assert_eq!(reports[0].remarks, ["the specification cannot do ✓ here; it may do nothing"]);
    assert_eq!(reports[2].remarks, ["everything is refused here; the specification accepts at least {✓}"]);
}

#[test]
fn limits_are_inconclusive() {
    let text = "var x = 0; P = [x < 100] a{x = x + 1;} -> P; Q = a -> Q; #assert P refines Q;";
    let loaded = load(Source::new("text.csp", text), Language::Csp, &LoadOptions::default()).expect("a right model");
    let with = |options: SearchOptions| reports(&loaded.model, &options).expect("reports").remove(0);
    let states = with(SearchOptions { max_states: Some(10), ..SearchOptions::default() });
    assert_eq!((states.verdict, states.stop_reason), (Verdict::Inconclusive, Some(StopReason::StateLimit(10))));
    let depth = with(SearchOptions { max_depth: Some(7), ..SearchOptions::default() });
    assert_eq!((depth.verdict, depth.stop_reason), (Verdict::Inconclusive, Some(StopReason::DepthLimit(7))));
}
