//! Symbolic searches against explicit ones: the same verdicts, states, steps and orbits on random models of each
//! language and on the example models, with symmetries in each way.
//!
//! `QUOTIENT_RANDOM_SYMBOLIC` sets the number of models of each sort, `QUOTIENT_RANDOM_SEED` the first seed.

use std::sync::atomic::{AtomicU64, Ordering};

use num_bigint::BigUint;
use quotient::languages::{Language, LoadOptions, load};
use quotient_explicit::check;
use quotient_ir::{Budget, DeadlockMode, Layout, Model, PropertyId, PropertyKind, Source};
use quotient_representatives::Strategy;
use quotient_search::{Report, SearchOptions, Silent, StopReason, Subject, Verdict, ViolationLimit};
use quotient_sets::{
    SetsReport, SymbolicError, SymbolicReport, SymbolicSymmetry, Way, check_symbolic, count_by_saturation,
};
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::{
    csp_examples, dve_examples, load_murphi, murphi_examples, promela_examples, with_files_beside,
};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_models::Sort;
use quotient_testkit::search::plan;
use quotient_testkit::switches::number_from;

/// Larger state spaces are left out.
const LARGEST: u64 = 20_000;
/// The room of each search.
const BYTES: u64 = 64 << 20;

/// What happened over all models.
#[derive(Default)]
struct Tally {
    models: AtomicU64,
    refused: AtomicU64,
    violated: AtomicU64,
    reduced: AtomicU64,
    /// Left some states out.
    partial: AtomicU64,
    /// All states were found by saturation.
    saturated: AtomicU64,
}

fn violated(report: &Report) -> Vec<Subject> {
    let wrong = report.properties.iter().filter(|property| property.verdict == Verdict::Violated);
    wrong.map(|property| property.subject).collect()
}

/// Compares symbolic searches of a model with the explicit one.
fn compare(model: &Model, deadlock: DeadlockMode, tally: &Tally) -> Result<(), String> {
    let text = |error: quotient_search::EngineError| error.to_string();
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    compare_saturation(model, &layout, tally)?;
    let is_kept = |kind| matches!(kind, PropertyKind::Invariant | PropertyKind::Cover | PropertyKind::AlwaysReachable);
    let kept: Vec<PropertyId> =
        model.properties.iter_enumerated().filter(|(_, property)| is_kept(property.kind)).map(|(id, _)| id).collect();
    let options =
        SearchOptions { deadlock, properties: Some(kept.clone()), max_memory: Some(BYTES), ..SearchOptions::default() };
    let bounded = SearchOptions { max_states: Some(LARGEST), ..options.clone() };
    let whole = check(model, &layout, None, &bounded, &mut Silent).map_err(text)?;
    if whole.stop_reason.as_ref().is_some_and(|reason| *reason != StopReason::Violation) {
        return Ok(());
    }
    let all = SearchOptions { violations: ViolationLimit::All, ..bounded.clone() };
    let all = check(model, &layout, None, &all, &mut Silent).map_err(text)?;
    let symbolic = |symmetry| check_symbolic(model, &layout, symmetry, &options, &mut Silent);
    let found = match symbolic(None) {
        Ok(found) => found,
        Err(SymbolicError::Refused { .. }) => {
            tally.refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    tally.models.fetch_add(1, Ordering::Relaxed);
    let is_passing = model.passing().next().is_some();
    same("whole", &found, &whole, &all, None, !is_passing)?;
    if whole.verdict == Verdict::Violated {
        tally.violated.fetch_add(1, Ordering::Relaxed);
    }
    // Liveness of instances that symmetries exchange is decided by further searches.
    let live = kept.iter().any(|&id| model.properties[id].kind == PropertyKind::AlwaysReachable);
    let plan = plan(model, &layout, &kept, SymmetrySource::Detected, Some(Strategy::Canonical)).map_err(text)?;
    let group = &plan.symmetry.group;
    if group.is_trivial() {
        return Ok(());
    }
    tally.reduced.fetch_add(1, Ordering::Relaxed);
    let is_large = all.states > LARGEST / 10;
    let reduced = match whole.stop_reason {
        Some(_) => None,
        None => Some(check(model, &layout, Some(&plan), &bounded, &mut Silent).map_err(text)?.states),
    };
    let some = Some(Way::SomeRepresentatives { nodes: 6 });
    for way in [None, some].into_iter().chain(Way::ALL.map(Some)) {
        let name = way.map_or("usual", Way::name);
        match symbolic(Some(SymbolicSymmetry { group, way })) {
            // What was left out may be wrong, or not.
            Ok(SymbolicReport {
                report: Report { stop_reason: Some(StopReason::Undecided(_)), verdict, .. }, ..
            }) if way == some => {
                if verdict != Verdict::Inconclusive {
                    return Err(format!("{name}: {verdict:?} although states were left out"));
                }
                tally.partial.fetch_add(1, Ordering::Relaxed);
            }
            // Relations of orbits are what does not fit; larger models may not.
            Ok(SymbolicReport { report: Report { stop_reason: Some(StopReason::MemoryLimit(_)), .. }, .. })
                if is_large || matches!(way, Some(Way::OrbitRelation | Way::MultipleRepresentatives)) => {}
            Ok(found) => same(name, &found, &whole, &all, reduced.map(|states| (states, way)), !live && !is_passing)?,
            Err(SymbolicError::NotNice) if way == Some(Way::Dynamic) => {}
            Err(SymbolicError::Unsuited) if way.is_some() => {}
            Err(error) => return Err(format!("{name}: {error}")),
        }
    }
    Ok(())
}

/// Compares all states by saturation with those of an explicit search.
fn compare_saturation(model: &Model, layout: &Layout, tally: &Tally) -> Result<(), String> {
    let options = SearchOptions {
        deadlock: DeadlockMode::Off,
        properties: Some(Vec::new()),
        max_memory: Some(BYTES),
        ..SearchOptions::default()
    };
    let bounded = SearchOptions { max_states: Some(LARGEST), ..options.clone() };
    let whole = check(model, layout, None, &bounded, &mut Silent).map_err(|error| error.to_string())?;
    let is_wrong = whole.verdict == Verdict::Violated;
    if !is_wrong && whole.stop_reason.is_some() {
        return Ok(());
    }
    let found = match count_by_saturation(model, layout, &options, &Budget::unlimited()) {
        Ok(Some(found)) => found,
        Ok(None) | Err(SymbolicError::Refused { .. }) => return Ok(()),
        Err(error) => return Err(format!("saturation: {error}")),
    };
    if is_wrong {
        return Err("saturation: a step goes wrong".to_owned());
    }
    tally.saturated.fetch_add(1, Ordering::Relaxed);
    same("saturation", &found, &whole, &whole, None, true)
}

/// Compares one search with the explicit ones: one that ends at the first violation, and one that finds all. With
/// symmetries, the number of orbits is given.
fn same(
    name: &str,
    found: &SymbolicReport,
    whole: &Report,
    all: &Report,
    reduced: Option<(u64, Option<Way>)>,
    steps_count: bool,
) -> Result<(), String> {
    let SymbolicReport { report, sets: SetsReport { states, orbits, transitions, way, .. } } = found;
    let (here, there) = (violated(report), violated(all));
    if whole.stop_reason.is_some() {
        // States are reached in another order: the search may come to a step without end first, and gives up there.
        if matches!(report.stop_reason, Some(StopReason::Exhausted(_))) {
            return Ok(());
        }
        // Any of the violations will do; a run shows it.
        let is_shown =
            !here.is_empty() && here.iter().all(|subject| there.contains(subject) || violated(whole).contains(subject));
        return if is_shown {
            Ok(())
        } else {
            Err(format!("{name}: {here:?} instead of one of {there:?}: {:?}", report.stop_reason))
        };
    }
    if report.stop_reason.is_some() || here != violated(whole) {
        return Err(format!("{name}: {here:?} and {:?} instead of {:?}", report.stop_reason, violated(whole)));
    }
    let expected = BigUint::from(whole.states);
    if report.represented.as_ref() != Some(&expected) {
        return Err(format!("{name}: {:?} states instead of {expected}", report.represented));
    }
    if report.never_fired != whole.never_fired {
        return Err(format!("{name}: {:?} never fired instead of {:?}", report.never_fired, whole.never_fired));
    }
    match reduced.filter(|_| way.is_some()) {
        None => {
            if *states != expected || steps_count && *transitions != BigUint::from(whole.transitions) {
                return Err(format!(
                    "{name}: {states} states and {transitions} steps instead of {expected} and {}",
                    whole.transitions
                ));
            }
        }
        Some((reduced, _)) => {
            if orbits.as_ref().is_some_and(|orbits| *orbits != BigUint::from(reduced)) {
                return Err(format!("{name}: {orbits:?} orbits instead of {reduced}"));
            }
            if *states < BigUint::from(reduced) {
                return Err(format!("{name}: {states} representatives of {reduced} orbits"));
            }
        }
    }
    Ok(())
}

fn compare_all(sort: Sort, count: u64) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let count = number_from("QUOTIENT_RANDOM_SYMBOLIC", count);
    let tally = Tally::default();
    let seeds: Vec<u64> = (first..first + count).collect();
    let wrong: Vec<String> = map_on_workers(2, &seeds, |&seed| {
        let model = sort.model(seed)?;
        let result = compare(&model, sort.deadlock(seed), &tally);
        result.err().map(|error| format!("{} {seed}: {error}", sort.name()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let Tally { models, refused, violated, reduced, partial, saturated } = tally;
    let [models, refused, violated, reduced, partial, saturated] =
        [models, refused, violated, reduced, partial, saturated].map(|it| it.into_inner());
    let summary = format!(
        "{}: {models} models, {violated} wrong, {reduced} with symmetries ({partial} of them with states left out once), \
         {refused} refused, {saturated} by saturation",
        sort.name()
    );
    #[expect(clippy::print_stderr, reason = "what is recorded of a long run")]
    {
        eprintln!("{summary}");
    }
    assert!(models > 0, "{summary}");
}

#[test]
fn loosely_coupled_processes() {
    compare_all(Sort::Loose, 40);
}

#[test]
fn random_murphi_programs() {
    compare_all(Sort::Murphi, 80);
}

#[test]
fn random_promela_programs() {
    compare_all(Sort::Promela, 30);
}

#[test]
fn random_dve_systems() {
    compare_all(Sort::Dve, 60);
}

#[test]
fn random_csp_programs() {
    compare_all(Sort::Csp, 30);
}

#[test]
fn random_b_machines() {
    compare_all(Sort::B, 8);
}

#[test]
fn murphi_examples_agree() {
    let examples = murphi_examples();
    let tally = Tally::default();
    let wrong: Vec<String> = map_on_workers(2, &examples, |example| {
        let model = load_murphi(&example.name, &example.text, &[]).expect("an example is valid");
        compare(&model, DeadlockMode::Stuttering, &tally).err().map(|error| format!("{}: {error}", example.name))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The examples of the other languages, with what is claimed about single states.
#[test]
fn other_examples_agree() {
    let paths = [promela_examples(), dve_examples(), csp_examples()].concat();
    let tally = Tally::default();
    let wrong: Vec<String> = map_on_workers(2, &paths, |path| {
        let text = std::fs::read_to_string(path).expect("an example is a text");
        let name = path.to_string_lossy();
        let language = Language::from_file_name(&name).expect("its ending tells the language");
        let source = with_files_beside(Source::new(name.as_ref(), text), language);
        let loaded = load(source, language, &LoadOptions::default()).expect("an example is valid");
        compare(&loaded.model, DeadlockMode::Stuck, &tally).err().map(|error| format!("{name}: {error}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.models.into_inner() > 10, "many are small enough");
}

#[test]
fn covers_in_starts_count() {
    let text =
        "var x: 0..1; startstate cover true; x := 0; end; rule x = 0 ==> x := 1; end; rule x = 1 ==> x := 0; end;";
    let model = load_murphi("covers", text, &[]).expect("a model");
    let tally = Tally::default();
    assert_eq!(compare(&model, DeadlockMode::Stuttering, &tally), Ok(()));
    assert_eq!(tally.models.into_inner(), 1);
}
