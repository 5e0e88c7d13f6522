//! Searches by several processes against searches by one: the same verdicts, counts and lengths of runs, whatever the
//! number of processes and workers, interrupted or not. `QUOTIENT_WORKER_MODELS` is the number of random models.
//! A program of its own, because it counts the memory regions of its process, to which other tests would add.

use std::path::Path;
use std::time::Duration;

use quotient::{
    Checkpoint, Engine, Error, Language, Limits, LoadOptions, Model, Options, PartialOrder, Plan, Reduction, Refusal,
    Report, StopReason, Strategy, Symmetry, Verdict, ViolationLimit,
};
use quotient_testkit::examples::{murphi_examples, promela_examples};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};
use quotient_testkit::workers::{Crew, check_by_workers};

/// Models with more states are left out.
const MOST_STATES: u64 = 10_000;

const CREWS: [Crew; 4] = [
    Crew { processes: 1, workers: 1 },
    Crew { processes: 2, workers: 1 },
    Crew { processes: 4, workers: 1 },
    Crew { processes: 2, workers: 3 },
];

/// Options that one process and several understand in the same way.
fn options(symmetry: Symmetry) -> Options {
    let reduction = match symmetry {
        Symmetry::Off => Reduction::Auto,
        _ => Reduction::By(Strategy::Canonical),
    };
    Options { engine: Engine::Explicit, symmetry, reduction, partial_order: PartialOrder::Off, ..Options::default() }
}

/// Whether two searches of a model come to the same result. One process ends at the first violation, and several at the
/// end of its level.
fn compare(one: &Report, several: &Report) -> Result<(), String> {
    let same =
        |what: &str, is_same: bool, values: String| if is_same { Ok(()) } else { Err(format!("{what}: {values}")) };
    macro_rules! same {
        ($($field:ident),*) => {
            $(same(stringify!($field), one.$field == several.$field, format!("{:?} {:?}", one.$field, several.$field))?;)*
        };
    }
    same!(verdict);
    if one.stop_reason.is_none() {
        same!(stop_reason, states, transitions, depth, levels, represented, never_fired);
    }
    for (known, found) in one.properties.iter().zip(&several.properties) {
        let length = |report: &quotient::PropertyReport| report.trace.as_ref().map(|trace| trace.steps.len());
        if known.verdict == Verdict::Violated || one.stop_reason.is_none() {
            let values = format!("{:?}: {:?} {:?}", known.subject, known.verdict, found.verdict);
            same("verdicts", known.verdict == found.verdict, values)?;
            // Of errors of several kinds in the same level, one may be a step shorter.
            let is_short = length(found) <= length(known) && length(found).is_some() == length(known).is_some();
            same("lengths", is_short, format!("{:?}: {:?} {:?}", known.subject, length(known), length(found)))?;
        }
    }
    Ok(())
}

/// Searches a model by a crew. Returns whether it is one that can be.
fn check(name: &str, model: &Model, options: &Options, crew: Crew) -> Result<bool, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    // A search that may be continued later does not change its mind about symmetries, and neither do workers.
    let checkpoint = Some(Checkpoint { path: folder.path().join("one"), every: Duration::from_secs(3600) });
    let limits = Limits { max_states: Some(MOST_STATES), ..Limits::default() };
    let limited = Options { checkpoint, limits, ..options.clone() };
    let one = match Plan::new(model, &limited).and_then(|plan| plan.run()) {
        // Temporal properties cannot be resumed.
        Err(Error::Refused(_)) => return Ok(false),
        one => one.map_err(|error| format!("{name}: {error}"))?,
    };
    if one.stop_reason.as_ref().is_some_and(|reason| *reason != StopReason::Violation) {
        return Ok(false);
    }
    for report in check_by_workers(model, options, crew) {
        match report {
            Ok(several) => {
                compare(&one, &several).map_err(|difference| format!("{name}, {crew:?}: {difference}"))?;
            }
            Err(Error::Refused(Refusal::Workers(reason))) if reason.contains("cannot be used with") => {
                return Ok(false);
            }
            Err(error) => return Err(format!("{name}, {crew:?}: {error}")),
        }
    }
    Ok(true)
}

fn report(results: Vec<Result<bool, String>>, least: usize) {
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let searched = results.iter().filter(|result| matches!(result, Ok(true))).count();
    assert!(searched >= least, "only {searched} searches");
}

#[test]
fn examples_are_searched_alike() {
    let mut models = Vec::new();
    for example in murphi_examples() {
        if let Ok(model) = Model::from_text(&example.name, &example.text, Language::Murphi) {
            models.push((example.name, model));
        }
    }
    for path in promela_examples() {
        let name = path.display().to_string();
        if let Ok(model) = Model::load(&path, &LoadOptions::default(), &quotient::Control::default()) {
            models.push((name, model));
        }
    }
    let numbered: Vec<(usize, (String, Model))> = models.into_iter().enumerate().collect();
    let results = map_on_workers(2, &numbered, |(number, (name, model))| {
        let mut is_searched = false;
        for (position, symmetry) in [Symmetry::Off, Symmetry::Auto].into_iter().enumerate() {
            let crew = CREWS[1 + (number + position) % (CREWS.len() - 1)];
            is_searched |= check(name, model, &options(symmetry), crew)?;
        }
        Ok(is_searched)
    });
    report(results, 20);
}

#[test]
fn random_models_are_searched_alike() {
    let seeds: Vec<u64> = (0..number_from("QUOTIENT_WORKER_MODELS", 24)).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let kind = if seed % 2 == 0 { Kind::Symmetric } else { Kind::NearlySymmetric };
        let text = symmetric_program(seed, kind);
        let Ok(model) = Model::from_text("random", &text, Language::Murphi) else { return Ok(false) };
        let mut is_searched = false;
        for symmetry in [Symmetry::Off, Symmetry::Auto] {
            for violations in [ViolationLimit::First, ViolationLimit::All] {
                let options = options(symmetry).violations(violations);
                let crew = CREWS[seed as usize % CREWS.len()];
                is_searched |= check(&format!("{seed} {symmetry:?} {violations:?}"), &model, &options, crew)?;
            }
        }
        Ok(is_searched)
    });
    report(results, seeds.len() / 4);
}

/// A program may search again and again: the threads that a search had leave nothing behind.
#[test]
#[cfg(target_os = "linux")]
fn searches_give_everything_back() {
    let model = Model::from_text("counters", COUNTERS, Language::Murphi).expect("a model");
    let crew = Crew { processes: 2, workers: 1 };
    let mapped_after = |searches: usize| {
        for _ in 0..searches {
            for result in check_by_workers(&model, &options(Symmetry::Off), crew) {
                result.expect("a report");
            }
        }
        std::fs::read_to_string("/proc/self/maps").expect("a list").lines().count()
    };
    let before = mapped_after(5);
    // The stacks of four threads take eight lines. Other tests have threads, too.
    let after = mapped_after(60);
    assert!(after < before + 240, "{before} and {after} regions of memory");
}

const COUNTERS: &str = "
    const N: 6; type id: 1..N;
    var c: array[id] of 0..3;
    startstate begin for i: id do c[i] := 0; end; end;
    ruleset i: id do rule \"up\" c[i] < 3 ==> begin c[i] := c[i] + 1; end; end;
    rule \"again\" forall i: id do c[i] = 3 end ==> begin for i: id do c[i] := 0; end; end;
    invariant \"small\" exists i: id do c[i] < 3 end | c[1] = 3;
";

fn limited(max_depth: u64, folder: &Path) -> Options {
    Options {
        limits: Limits { max_depth: Some(max_depth), ..Limits::default() },
        checkpoint: Some(Checkpoint { path: folder.to_owned(), every: Duration::ZERO }),
        ..options(Symmetry::Off)
    }
}

#[test]
fn a_search_is_resumed_from_every_level() {
    let model = Model::from_text("counters", COUNTERS, Language::Murphi).expect("a model");
    let crew = Crew { processes: 2, workers: 2 };
    let one = Plan::new(&model, &options(Symmetry::Off)).and_then(|plan| plan.run()).expect("a report");
    for level in [1, 4, 9, 17] {
        let folder = tempfile::tempdir().expect("a folder");
        for result in check_by_workers(&model, &limited(level, folder.path()), crew) {
            let cut = result.expect("a report");
            assert_eq!(cut.stop_reason, Some(StopReason::DepthLimit(level)));
            assert_eq!((cut.verdict, cut.depth), (Verdict::Inconclusive, level));
            assert_eq!(cut.levels, one.levels.as_ref().map(|levels| levels[..=level as usize].to_vec()));
        }
        let resumed = Options { resume: Some(folder.path().to_owned()), ..options(Symmetry::Off) };
        for result in check_by_workers(&model, &resumed, crew) {
            compare(&one, &result.expect("a report")).expect("the same result");
        }
        // By another number of workers it is not.
        let other = Crew { processes: 1, workers: 2 };
        for result in check_by_workers(&model, &resumed, other) {
            let error = result.expect_err("it does not fit").to_string();
            assert!(error.contains("it is one of 4 workers, and these are 2"), "{error}");
        }
    }
}

#[test]
fn limits_end_all_processes() {
    let model = Model::from_text("counters", COUNTERS, Language::Murphi).expect("a model");
    let crew = Crew { processes: 2, workers: 2 };
    let ended = |limits: Limits| -> Vec<Option<StopReason>> {
        let options = Options { limits, ..options(Symmetry::Off) };
        check_by_workers(&model, &options, crew).into_iter().map(|it| it.expect("a report").stop_reason).collect()
    };
    let states = ended(Limits { max_states: Some(100), ..Limits::default() });
    assert_eq!(states, vec![Some(StopReason::StateLimit(100)); 2]);
    let time = ended(Limits { timeout: Some(Duration::ZERO), ..Limits::default() });
    // Before they know each other, or after.
    assert!(time.iter().all(|reason| matches!(reason, Some(StopReason::TimeLimit(_)))), "{time:?}");
}

#[test]
fn what_workers_cannot_do_is_refused() {
    let model = Model::from_text("counters", COUNTERS, Language::Murphi).expect("a model");
    let crew = Crew { processes: 1, workers: 1 };
    let base = options(Symmetry::Auto);
    let refused = [
        Options { order: quotient::SearchOrder::DepthFirst, ..base.clone() },
        Options { store: quotient::StoreMode::Compact, ..base.clone() },
        Options { engine: Engine::Symbolic, reduction: Reduction::Auto, ..base.clone() },
        Options { reduction: Reduction::Adaptive, ..base.clone() },
        Options { reduction: Reduction::By(Strategy::Markers), ..base.clone() },
        Options { partial_order: PartialOrder::On, ..base.clone() },
        Options { cross_check: true, ..base.clone() },
        Options { statistics: true, ..base.clone() },
        Options { cover_runs: true, ..base.clone() },
        Options { threads: 2, ..base },
    ];
    for options in refused {
        let result = check_by_workers(&model, &options, crew).remove(0);
        let error = result.expect_err("it is refused").to_string();
        assert!(error.starts_with("--workers cannot be used with "), "{error}");
    }
}
