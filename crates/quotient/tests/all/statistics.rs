//! States per level and how often rules fire: in the quotient as in the unreduced search, on any number of threads, in
//! memory and on disk, and after an interruption.

use std::path::PathBuf;

use quotient::names::rule_groups;
use quotient::{Checkpoint, Language, Limits, Model, Options, Plan, Report, Spill, Symmetry};

/// Every example model.
fn examples() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths = Vec::new();
    for language in ["murphi", "promela", "b"] {
        let folder = std::fs::read_dir(root.join(language)).expect("the example models");
        paths.extend(folder.map(|entry| entry.expect("an entry").path()));
    }
    paths.sort();
    paths
}

/// Counts the whole state space: only errors are looked for, so that a violation of another property does not end it.
fn options() -> Options {
    let limits = Limits { max_states: Some(30_000), ..Limits::default() };
    Options { statistics: true, limits, ..Options::default() }.property("errors")
}

fn run(model: &Model, options: &Options) -> Report {
    Plan::new(model, options).and_then(|plan| plan.run()).expect("a report")
}

#[test]
fn rules_fire_as_often_in_the_quotient() {
    let (mut compared, mut reduced) = (0, 0);
    for path in examples() {
        let Ok(model) = Model::from_path(&path) else { continue };
        let whole = run(&model, &options().symmetry(Symmetry::Off));
        let levels = whole.levels.as_ref().expect("a breadth-first search knows its levels");
        assert_eq!(levels.iter().sum::<u64>(), whole.states, "{}", path.display());
        let Some(all) = &whole.firings else {
            assert!(whole.stop_reason.is_some(), "{}", path.display());
            continue;
        };
        assert_eq!(levels.len() as u64, whole.depth + 1, "{}", path.display());
        let times: u64 = all.iter().map(|firings| u64::try_from(&firings.times).expect("small")).sum();
        assert_eq!(times, whole.transitions, "{}", path.display());
        let quotient = run(&model, &options());
        assert_eq!(quotient.levels.as_ref().map(Vec::len), whole.levels.as_ref().map(Vec::len), "{}", path.display());
        let orbits = quotient.firings.as_ref().expect("it is smaller");
        for orbit in orbits {
            let alone = all.iter().filter(|firings| firings.rules.iter().all(|rule| orbit.rules.contains(rule)));
            let sum: num_bigint::BigUint = alone.map(|firings| &firings.times).sum();
            assert_eq!(orbit.times, sum, "{}: {:?}", path.display(), orbit.rules);
        }
        assert_eq!(orbits.iter().map(|orbit| orbit.rules.len()).sum::<usize>(), model.ir().rules.len());
        compared += 1;
        reduced += usize::from(quotient.states < whole.states);
    }
    assert!(compared > 25 && reduced > 15, "{compared} compared, {reduced} of them reduced");
}

/// Symmetries must then map instances one to one: two rules that do the same are two firings. There are symmetries that
/// do not, and they are used if firings are not counted.
#[test]
fn rules_that_do_the_same_are_counted_each() {
    let twice = "var x: array [1..2] of 0..1;
        startstate x[1] := 0; x[2] := 0; end;
        rule x[1] = 0 ==> x[1] := 1; end;
        rule x[1] = 0 ==> x[1] := 1; end;
        rule x[2] = 0 ==> x[2] := 1; end;";
    // As many instances of different rules.
    let balanced = format!("{twice} rule x[2] = 0 ==> x[2] := 1; end;");
    // Instances that do nothing else for other values of their parameters.
    let parameters = "var x: array [1..2] of 0..1;
        startstate x[1] := 0; x[2] := 0; end;
        ruleset i: 1..3 do rule x[1] = 0 ==> x[1] := 1; end; end;
        ruleset i: 1..2 do rule x[2] = 0 ==> x[2] := 1; end; end;";
    // Steps that change nothing, too.
    let loops = "var x: array [1..2] of 0..1;
        startstate x[1] := 0; x[2] := 0; end;
        rule x[1] = 1 ==> x[1] := 1; end;
        rule x[1] = 0 ==> x[1] := 1; end;
        rule x[2] = 0 ==> x[2] := 1; end;";
    // Orbits may have several rules, and those with other numbers of instances are of other orbits.
    for (text, times, orbits, plain) in
        [(twice, 6u32, 4, 3), (&balanced, 8, 3, 3), (parameters, 10, 4, 3), (loops, 6, 4, 4)]
    {
        let model = Model::from_text("model", text, Language::Murphi).expect("a model");
        for symmetry in [Symmetry::Off, Symmetry::Auto] {
            for reduction in [quotient::Reduction::Auto, quotient::Reduction::By(quotient::Strategy::Canonical)] {
                if symmetry == Symmetry::Off && reduction != quotient::Reduction::Auto {
                    continue;
                }
                let report = run(&model, &options().symmetry(symmetry).reduction(reduction));
                let all: num_bigint::BigUint =
                    report.firings.expect("they are known").iter().map(|firings| &firings.times).sum();
                assert_eq!(all, times.into(), "{symmetry:?}, {reduction:?}: {text}");
                assert_eq!(report.states, if symmetry == Symmetry::Off { 4 } else { orbits }, "{text}");
            }
        }
        let report = run(&model, &Options { statistics: false, ..options() });
        assert_eq!(report.states, plain, "{text}");
    }
}

#[test]
fn levels_do_not_depend_on_how_a_search_is_made() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi/peterson.m");
    let model = Model::from_path(path).expect("a model");
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options::default().symmetry(Symmetry::Off);
    let alone = run(&model, &options);
    let figures = |report: &Report| (report.states, report.levels.clone());
    assert_eq!(figures(&run(&model, &options.clone().threads(3))), figures(&alone));
    for threads in [1, 2] {
        // What fits into memory stays there: a limit below the program itself is refused, so this is a small one.
        let spill = Some(Spill { folder: folder.path().to_owned(), max_bytes: None });
        let spilled = run(&model, &Options { spill, ..options.clone().threads(threads) });
        assert_eq!(figures(&spilled), figures(&alone));
        for states in [1, 7, alone.states / 2, alone.states - 1] {
            let file = folder.path().join("checkpoint");
            let limits = Limits { max_states: Some(states), ..Limits::default() };
            let checkpoint = Some(Checkpoint::new(&file));
            let stopped = run(&model, &Options { checkpoint, ..options.clone().threads(threads).limits(limits) });
            assert_eq!(stopped.levels.expect("levels").iter().sum::<u64>(), stopped.states);
            let resumed = run(&model, &Options { resume: Some(file), ..options.clone().threads(3 - threads) });
            assert_eq!(figures(&resumed), figures(&alone), "{threads} threads, {states} states");
        }
    }
}

#[test]
fn what_would_not_be_exact_is_refused() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi/peterson.m");
    let model = Model::from_path(path).expect("a model");
    let refused = |options: Options| Plan::new(&model, &options).expect_err("it is refused").to_string();
    let options = Options { statistics: true, ..Options::default() };
    assert!(refused(options.clone().reduction(quotient::Reduction::Adaptive)).contains("--statistics"));
    assert!(refused(Options { store: quotient::StoreMode::Compact, ..options.clone() }).contains("--statistics"));
    let markers = quotient::Reduction::By(quotient::Strategy::Markers);
    assert!(refused(options.clone().reduction(markers)).contains("--statistics"));
    // An orbit may be stored several times: that is known only when the symmetries are.
    let sorted = quotient::Reduction::By(quotient::Strategy::LocalSearch);
    let report = run(&model, &options.reduction(sorted));
    assert_eq!(report.firings.is_none(), !report.reduction.exact);
}

/// An event of a definition that is used in several places is several rules, and one in the text.
#[test]
fn rules_of_one_name_and_place_are_one() {
    let text = "var x = 0; Q() = [x > 5] b -> Stop; R(i) = [x == i] c -> Stop;
        A() = a { x = x + 2; } -> Stop;
        System() = A() ||| Q() ||| Q() ||| R(0) ||| R(1); #assert System() deadlockfree;";
    let model = Model::from_text("model", text, Language::Csp).expect("a model");
    let never_fired = run(&model, &options()).never_fired.expect("the search finished");
    assert_eq!(never_fired.len(), 3, "both of `b`, and `c` of the second process");
    let groups = rule_groups(model.ir(), &never_fired);
    assert!(groups.len() < model.ir().rules.len());
    let never: Vec<&str> = groups.iter().filter(|it| it.is_never_fired).map(|it| it.name.as_str()).collect();
    assert_eq!(never, ["b"]);
    assert_eq!(groups.iter().filter(|it| it.name == "c").count(), 1);
}
