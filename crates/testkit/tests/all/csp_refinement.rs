//! Claims about events: textbook examples, and random pairs of processes against the definitions on graphs of a direct
//! interpreter. Violations are replayed by the engine.

use quotient::languages::{Language, LoadOptions, load};
use quotient_graphs::{TemporalReport, UsedSymmetry};
use quotient_ir::{Layout, Model, Source};
use quotient_runs::check_temporal;
use quotient_search::{SearchOptions, Silent, StopReason, Verdict};
use quotient_systems::SymmetrySource;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_csp::{RandomRefinement, random_refinement, random_symmetric_refinement};
use quotient_testkit::switches::number_from;

/// The reports on all claims of a model, which are about events.
fn reports(model: &Model, options: &SearchOptions) -> Result<Vec<TemporalReport>, String> {
    reports_with(model, None, options)
}

/// The same with symmetries, however short the search is.
fn reduced_reports(model: &Model) -> Result<Vec<TemporalReport>, String> {
    let options = SearchOptions { temporal_trial: 0, ..SearchOptions::default() };
    reports_with(model, Some(SymmetrySource::Detected), &options)
}

fn reports_with(
    model: &Model,
    source: Option<SymmetrySource>,
    options: &SearchOptions,
) -> Result<Vec<TemporalReport>, String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let check = |property| check_temporal(model, &layout, property, source, options, &mut Silent);
    model.properties.indices().map(|property| check(property).map_err(|error| error.to_string())).collect()
}

/// The pairs that a search stored, and the number of symmetries it used.
fn pairs(report: &TemporalReport) -> (u64, u64) {
    let search = &report.searches[0];
    let order = match &search.symmetry {
        UsedSymmetry::Whole(order) => u64::try_from(order).unwrap_or(u64::MAX),
        UsedSymmetry::None | UsedSymmetry::Annotated { .. } | UsedSymmetry::Counted(_) => 1,
    };
    (search.states, order)
}

/// Compares searches with and without symmetries: verdicts, and the lengths of runs that do not end in a cycle.
fn compare_reduced(model: &Model, whole: &[TemporalReport]) -> Result<Vec<TemporalReport>, String> {
    let reduced = reduced_reports(model)?;
    for (whole, reduced) in whole.iter().zip(&reduced) {
        let name = model.properties[whole.property].name.clone().unwrap_or_default();
        let length = |report: &TemporalReport| {
            report.trace.as_ref().filter(|trace| trace.cycle.is_none()).map(|trace| trace.steps.len())
        };
        let told = |report: &TemporalReport| {
            format!("{:?}, run of {:?}, {:?} pairs", report.verdict, length(report), pairs(report))
        };
        let is_alike = whole.verdict == reduced.verdict && length(whole) == length(reduced);
        // When a violation is found in its level may differ.
        let is_small = pairs(reduced).0 <= pairs(whole).0 || whole.verdict == Verdict::Violated;
        if !is_alike || !is_small {
            return Err(format!("`{name}`: {}, with symmetries {}", told(whole), told(reduced)));
        }
    }
    Ok(reduced)
}

/// Compares a random pair with the oracle: the number of assertions of each kind that hold and that do not.
fn compare(seed: u64, pair: &RandomRefinement, limit: usize) -> Result<Option<Compared>, String> {
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
    let reduced = compare_reduced(&model, &reports).map_err(told)?;
    Ok(Some(Compared { answers, whole: reports, reduced }))
}

/// What was compared: what is right, and the reports without and with symmetries.
struct Compared {
    answers: Vec<bool>,
    whole: Vec<TemporalReport>,
    reduced: Vec<TemporalReport>,
}

/// Compares random pairs; all that were compared.
fn compare_all(pair: impl Fn(u64) -> RandomRefinement + Sync, usual: u64, limit: usize) -> Vec<Compared> {
    let (pairs, first) = (number_from("QUOTIENT_RANDOM_REFINEMENTS", usual), number_from("QUOTIENT_RANDOM_SEED", 1));
    let seeds: Vec<u64> = (first..first + pairs).collect();
    let results = map_on_workers(2, &seeds, |&seed| compare(seed, &pair(seed), limit));
    let wrong: Vec<&String> = results.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong: {}", wrong.len(), wrong[0]);
    let all: Vec<Compared> = results.into_iter().filter_map(|it| it.ok()?).collect();
    assert!(3 * all.len() > seeds.len(), "{} compared", all.len());
    all
}

/// Shown with --nocapture, for records of long runs.
fn tell(text: &str) {
    let _ = std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{text}\n"));
}

/// Requires that each kind of claim often holds and often does not.
fn require_both_answers(all: &[Compared]) {
    for kind in 0..5 {
        let kinds = ["traces", "failures", "divergences", "divergencefree", "deterministic"];
        let values = || all.iter().flat_map(|it| [it.answers[kind], it.answers[kind + 5]]);
        let (holds, fails) = (values().filter(|it| *it).count(), values().filter(|it| !it).count());
        assert!(10 * holds.min(fails) > all.len() / 4, "{}: {holds} hold, {fails} do not", kinds[kind]);
        tell(&format!("{}: {holds} hold, {fails} do not", kinds[kind]));
    }
}

#[test]
fn random_pairs_against_the_definitions() {
    require_both_answers(&compare_all(random_refinement, 150, 60));
}

#[test]
fn random_symmetric_pairs_against_the_definitions() {
    let all = compare_all(random_symmetric_refinement, 80, 120);
    require_both_answers(&all);
    let searches = || all.iter().flat_map(|it| it.whole.iter().zip(&it.reduced));
    let is_reduced = |report: &&TemporalReport| pairs(report).1 > 1;
    let used = searches().filter(|(_, reduced)| is_reduced(reduced)).count();
    let violated =
        searches().filter(|(_, reduced)| is_reduced(reduced) && reduced.verdict == Verdict::Violated).count();
    let sum = |report: fn((&TemporalReport, &TemporalReport)) -> u64| searches().map(report).sum::<u64>();
    let (whole, reduced) = (sum(|(whole, _)| pairs(whole).0), sum(|(_, reduced)| pairs(reduced).0));
    tell(&format!(
        "{} searches, {used} with symmetries, {violated} of these violated; {whole} pairs, {reduced} with",
        searches().count()
    ));
    assert!(3 * used > searches().count() && 8 * violated > used, "{used} with symmetries, {violated} violated");
    assert!(4 * reduced < 3 * whole, "{whole} pairs, {reduced} with symmetries");
}

/// Checks the assertions of a text: `+` holds, `-` does not.
fn check(text: &str, expected: &str) -> Vec<TemporalReport> {
    let loaded = load(Source::new("text.csp", text), Language::Csp, &LoadOptions::default());
    let model = loaded.map_err(|diagnostics| format!("{diagnostics:#?}")).expect("a right model").model;
    let reports = reports(&model, &SearchOptions::default()).expect("reports");
    compare_reduced(&model, &reports).expect("the same with symmetries");
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

/// The pairs stored without and with symmetries and their number, for each assertion of a text.
fn reduction(text: &str, expected: &str) -> Vec<(u64, u64, u64)> {
    let reports = check(text, expected);
    let loaded = load(Source::new("text.csp", text), Language::Csp, &LoadOptions::default()).expect("a right model");
    let reduced = reduced_reports(&loaded.model).expect("reports");
    let figures = |(whole, reduced): (&TemporalReport, &TemporalReport)| {
        let (stored, order) = pairs(reduced);
        (pairs(whole).0, stored, order)
    };
    reports.iter().zip(&reduced).map(figures).collect()
}

#[test]
fn a_symmetry_of_one_side_that_renames_events_is_not_used() {
    // After `a.0` and after `a.1`, each specification allows only what is right after one of them. The process alone has
    // a symmetry that exchanges the two states; with it, one of the two refinements would hold.
    let process = "P = (a.0 -> b.0 -> Stop) ||| (a.1 -> b.1 -> Stop);";
    let after = |first: u8, second: u8| {
        format!(
            "(b.{first} -> a.{second} -> b.{second} -> Stop [] a.{second} -> (b.0 -> b.1 -> Stop [] b.1 -> b.0 -> Stop))"
        )
    };
    for (first, second) in [(0, 1), (1, 0)] {
        let rest = after(first, second);
        let text =
            format!("{process} Q = a.0 -> {rest} [] a.1 -> {rest}; #assert P refines Q; #assert P divergencefree;");
        let found = reduction(&text, "-+");
        assert_eq!((found[0].2, found[1].2), (1, 2), "{text}");
    }
    // If both sides are exchanged alike, the symmetry is used.
    let text = format!("{process} Q = a.0 -> {} [] a.1 -> {}; #assert P refines Q;", after(0, 1), after(1, 0));
    assert_eq!(reduction(&text, "+"), [(9, 6, 2)]);
}

#[test]
fn symmetries_of_hidden_events_are_free() {
    // The specification has no symmetry, and needs none.
    let text = "W(i) = get.i -> put.i -> done -> Stop;
                P = (||| i:{0..3} @ W(i)) \\ {i:{0..3} @ get.i, i:{0..3} @ put.i};
                Q = done -> done -> done -> done -> Stop; R = done -> done -> done -> Stop;
                #assert P refines Q; #assert P refines R; #assert P refines<FD> Q; #assert P divergencefree;
                #assert P deterministic;";
    let found = reduction(text, "+-++-");
    assert!(found.iter().all(|(whole, reduced, order)| *order == 24 && reduced <= whole), "{found:?}");
    assert_eq!((found[0].0, found[0].1), (256, 35));
}

#[test]
fn steps_to_symmetric_states_are_a_choice() {
    // Both steps with `a` lead to one representative, and are not one step.
    let text = "W(i) = a -> b.i -> Stop; P = ||| i:{0..1} @ W(i); #assert P deterministic;";
    assert_eq!(reduction(text, "-")[0].2, 2);
}

#[test]
fn parts_of_events_are_renamed_together() {
    // The values of events come from variables, and parts are exchanged with their values.
    let text = "var owner = 3; var last[3];
                W(i) = [owner == 3] take.i{owner = i;} -> told.owner -> give.i{owner = 3;} -> W(i);
                P = ||| i:{0..2} @ W(i);
                S(i) = take.i -> told.i -> give.i -> Skip;
                Q = S(0); Q [] S(1); Q [] S(2); Q;
                #assert P refines Q; #assert Q refines P; #assert P refines<FD> Q; #assert P deterministic;";
    let found = reduction(text, "++++");
    assert!(found.iter().all(|(whole, reduced, order)| *order == 6 && reduced < whole), "{found:?}");
}
