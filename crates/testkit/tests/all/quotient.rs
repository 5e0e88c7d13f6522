//! The quotient against the whole state space: the same verdicts, orbit sizes that add up to the
//! states of the model, runs that replay, and the figures of the papers.

use std::collections::BTreeSet;

use num_bigint::BigUint;
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, Valuation, replay};
use quotient_representatives::{Canonicalizer, Strategy, Workspace};
use quotient_search::{CrossCheck, Extent, Report, SearchOptions, SearchOrder, Silent, Verdict};
use quotient_symmetry::{StateMap, detect};
use quotient_systems::{ReductionPlan, SymmetrySource};
use quotient_testkit::examples::{load_murphi, murphi_examples, workspace};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::prerequisites::corpus;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::search::{check_with, cross_check, plan};
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};

/// What a search is to use of the symmetries of all properties of a model.
fn plan_for(
    model: &Model,
    layout: &Layout,
    source: SymmetrySource,
    strategy: Strategy,
) -> Result<ReductionPlan, String> {
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    plan(model, layout, &properties, source, Some(strategy)).map_err(|error| error.to_string())
}

/// Searches one state of each orbit of the symmetries that detection finds.
fn reduced(model: &Model, options: &SearchOptions) -> Result<Report, String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let plan = plan_for(model, &layout, SymmetrySource::Detected, Strategy::Canonical)?;
    check_with(model, &layout, &plan, options, &mut Silent).map_err(|error| error.to_string())
}

/// Searches with and without symmetry and compares: verdicts, counts and states, as `cross_check` does;
/// that runs replay; and that they are as long where they are shortest.
fn compare(
    model: &Model,
    source: SymmetrySource,
    strategy: Strategy,
    options: &SearchOptions,
) -> Result<(ReductionPlan, Report, CrossCheck), String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let plan = plan_for(model, &layout, source, strategy)?;
    let (report, comparison) =
        cross_check(model, &layout, &plan, options, &mut Silent).map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(model, &layout);
    for trace in report.properties.iter().filter_map(|property| property.trace.as_ref()) {
        replay(&interpreter, trace).map_err(|error| format!("a run does not replay: {error}"))?;
    }
    let whole = &comparison.whole;
    if report.states > whole.states && report.stop_reason.is_none() {
        return Err(format!("{} states stored, {} without symmetry", report.states, whole.states));
    }
    if comparison.extent == Extent::Everything {
        let is_exact = plan.reduction.as_ref().is_none_or(|reduction| reduction.canonicalizer.is_exact());
        let expected = is_exact.then(|| BigUint::from(whole.states));
        if report.represented != expected {
            return Err(format!("{:?} represented, {} without symmetry", report.represented, whole.states));
        }
    }
    Ok((plan, report, comparison))
}

/// How long the runs to violations are.
fn lengths(report: &Report) -> Vec<usize> {
    report.properties.iter().filter_map(|entry| Some(entry.trace.as_ref()?.steps.len())).collect()
}

#[test]
fn reduced_and_whole_searches_agree_on_the_example_models() {
    let mut work = Vec::new();
    for example in murphi_examples() {
        for case in 0..example.header.cases.len() {
            for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
                for source in [SymmetrySource::Detected, SymmetrySource::Declared] {
                    if example.header.cases[case].states <= 60_000 {
                        work.push((example.clone(), case, order, source));
                    }
                }
            }
        }
    }
    let wrong: Vec<String> = map_on_workers(2, &work, |(example, case, order, source)| {
        let case = &example.header.cases[*case];
        let compare_case = || -> Result<(), String> {
            let model = example.load(case)?;
            let options =
                SearchOptions { order: *order, deadlock: example.header.deadlock, ..SearchOptions::default() };
            let (_, report, comparison) = compare(&model, *source, Strategy::Canonical, &options)?;
            let (own, whole) = (lengths(&report), lengths(&comparison.whole));
            if *order == SearchOrder::BreadthFirst && own != whole {
                return Err(format!("runs of {own:?} steps reduced, {whole:?} whole"));
            }
            Ok(())
        };
        compare_case().err().map(|error| format!("{} {}, {order:?}, {source:?}: {error}", example.name, case.label()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares searches of the programs of some seeds by every strategy: all properties, and what can be
/// reached at all without stopping at violations.
fn compare_programs(default: u64, least_reduced: usize, program: impl Fn(u64) -> String + Sync) {
    const MOST_STATES: u64 = 3000;
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_MODELS", default)).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let model = load_murphi("random", &program(seed), &[]).ok()?;
        let reachability: Vec<PropertyId> = model
            .properties
            .iter_enumerated()
            .filter(|(_, property)| matches!(property.kind, PropertyKind::Cover | PropertyKind::AlwaysReachable))
            .map(|(id, _)| id)
            .collect();
        let base = SearchOptions { max_states: Some(MOST_STATES), ..SearchOptions::default() };
        let variants = [
            base.clone(),
            SearchOptions { deadlock: DeadlockMode::Stuck, order: SearchOrder::DepthFirst, ..base.clone() },
            SearchOptions { deadlock: DeadlockMode::Off, properties: Some(reachability), ..base },
        ];
        let mut compared = 0;
        let mut errors = Vec::new();
        for strategy in Strategy::ALL {
            for options in &variants {
                match compare(&model, SymmetrySource::Detected, strategy, options) {
                    Ok((plan, _, comparison)) => {
                        compared += usize::from(plan.reduction.is_some() && comparison.extent == Extent::Everything);
                    }
                    Err(error) => errors.push(format!("seed {seed}, {strategy}: {error}")),
                }
            }
        }
        Some((compared, errors))
    });
    let results: Vec<(usize, Vec<String>)> = results.into_iter().flatten().collect();
    let wrong: Vec<&str> = results.iter().flat_map(|(_, errors)| errors).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    let reduced = results.iter().filter(|(compared, _)| *compared > 0).count();
    assert!(reduced >= least_reduced, "only {reduced} of {} models were reduced to the end", results.len());
}

#[test]
fn reduced_and_whole_searches_agree_on_random_symmetric_models() {
    compare_programs(300, 60, |seed| symmetric_program(seed, Kind::Symmetric));
}

#[test]
fn reduced_and_whole_searches_agree_on_random_nearly_symmetric_models() {
    compare_programs(200, 20, |seed| symmetric_program(seed, Kind::NearlySymmetric));
}

#[test]
fn reduced_and_whole_searches_agree_on_random_models() {
    compare_programs(100, 0, |seed| {
        random_program(seed, &ProgramOptions { size: 2, most_states: 2000, extensions: seed % 2 == 0 })
    });
}

/// The models of the corpus: the same verdict with every strategy and with declared symmetries only.
#[test]
fn reduced_and_whole_searches_agree_on_real_models() {
    let Some(folder) = corpus("murphi", "reduced searches of real models") else { return };
    let files: Vec<std::path::PathBuf> = std::fs::read_dir(&folder)
        .expect("the corpus can be listed")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "m"))
        .collect();
    let wrong: Vec<String> = map_on_workers(2, &files, |path| {
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("the model")).into_owned();
        let model = load_murphi("corpus", &text, &[]).ok()?;
        let options = SearchOptions { max_states: Some(20_000), ..SearchOptions::default() };
        let detected = Strategy::ALL.map(|strategy| (SymmetrySource::Detected, strategy));
        for (source, strategy) in detected.into_iter().chain([(SymmetrySource::Declared, Strategy::Canonical)]) {
            if let Err(error) = compare(&model, source, strategy, &options) {
                return Some(format!("{}, {source:?}, {strategy}: {error}", path.display()));
            }
        }
        None
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What liveness of one process among equals costs: one instance is judged, with the symmetries that leave
/// it alone, and the others have the same answer.
#[test]
fn one_of_the_symmetric_instances_of_liveness_is_judged() {
    let text = |rule: &str| {
        format!(
            "const N: 4;
             type proc: 1..N;
             var at: array[proc] of 0..2; last: 0..N;
             startstate for p: proc do at[p] := 0; end; last := 0; end;
             ruleset p: proc do rule at[p] < 2 ==> at[p] := at[p] + 1; last := p; end; end;
             ruleset p: proc do rule {rule} ==> at[p] := 0; end; end;
             ruleset p: proc do liveness \"again\" at[p] = 1; end;
             liveness \"first\" at[1] != 2 | last = 1;"
        )
    };
    for (rule, verdict) in [("at[p] = 2", Verdict::Holds), ("false", Verdict::Violated)] {
        let model = load_murphi("liveness", &text(rule), &[]).unwrap_or_else(|error| panic!("{error}"));
        for strategy in Strategy::ALL {
            let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
            let compared = compare(&model, SymmetrySource::Detected, strategy, &options);
            let (plan, report, comparison) = compared.unwrap_or_else(|error| panic!("{strategy}: {error}"));
            if plan.reduction.is_none() {
                // Markers need a type of which all values can be exchanged.
                assert!(!Strategy::OF_CANONICALIZERS.contains(&strategy), "{strategy}");
                continue;
            }
            // The second property is about process 1: the others may be exchanged.
            assert_eq!(plan.symmetry.order, BigUint::from(6u32), "{strategy}");
            let cost = plan.symmetry.property_cost.expect("the second property costs symmetries");
            assert_eq!((cost.order, cost.properties.len()), (BigUint::from(24u32), 1), "{strategy}");
            let [search] = &report.liveness_searches[..] else { panic!("{strategy}: {report:?}") };
            let [instance] = &search.instances[..] else { panic!("{strategy}: {search:?}") };
            // Process 1 is judged in the main search, process 2 for all others.
            assert_eq!((&instance.arguments[..], instance.symmetric), (&[2][..], 3), "{strategy}");
            assert_eq!(search.order, BigUint::from(6u32), "{strategy}");
            assert_eq!((report.verdict, comparison.extent), (verdict, Extent::Everything), "{strategy}, {rule}");
        }
    }
}

/// All states that the maps lead to from a state.
fn orbit(state: &Valuation, maps: &[StateMap]) -> BTreeSet<Vec<Option<i64>>> {
    let mut orbit = BTreeSet::from([state.0.clone()]);
    let mut pending = vec![state.clone()];
    while let Some(next) = pending.pop() {
        for map in maps {
            let image = map.apply(&next);
            if orbit.insert(image.0.clone()) {
                pending.push(image);
            }
        }
    }
    orbit
}

/// By brute force: the states of an orbit have one representative, which is one of them, and the
/// size of the orbit is right.
#[test]
fn representatives_are_one_for_each_orbit() {
    let mut work = Vec::new();
    for example in murphi_examples() {
        for case in 0..example.header.cases.len() {
            if example.header.cases[case].states <= 4_000 {
                work.push((example.clone(), case));
            }
        }
    }
    let wrong: Vec<String> = map_on_workers(2, &work, |(example, case)| {
        let case = &example.header.cases[*case];
        let model = example.load(case).unwrap_or_else(|error| panic!("{error}"));
        let layout = Layout::new(&model).expect("a layout");
        let detection = detect(&model, &layout, &[], &quotient_ir::Budget::unlimited()).expect("certified symmetries");
        let canonicalizer = Canonicalizer::new(&model, &layout, &detection.group).expect("a canonicalizer");
        let mut workspace = Workspace::default();
        let mut representative = |state: &Valuation| {
            let mut words = layout.state(state).0;
            canonicalizer.canonicalize(&mut workspace, &mut words);
            words
        };
        let interpreter = Interpreter::new(&model, &layout);
        let mut seen: BTreeSet<Vec<Option<i64>>> = BTreeSet::new();
        let mut representatives = BTreeSet::new();
        for state in some_states(&model, &interpreter) {
            if seen.contains(&state.0) {
                continue;
            }
            let orbit = orbit(&state, detection.group.maps());
            let expected = representative(&state);
            if !representatives.insert(expected.clone()) {
                return Some(format!("{} {}: two orbits share a representative", example.name, case.label()));
            }
            let mut met = false;
            for other in &orbit {
                let other = Valuation(other.clone());
                met |= layout.state(&other).0 == expected;
                if representative(&other) != expected {
                    return Some(format!("{} {}: an orbit has two representatives", example.name, case.label()));
                }
            }
            let size = canonicalizer.orbit_size(&mut Workspace::default(), &layout.state(&state).0);
            if !met || size != BigUint::from(orbit.len()) {
                return Some(format!(
                    "{} {}: an orbit of {} is said to have {size}",
                    example.name,
                    case.label(),
                    orbit.len()
                ));
            }
            seen.extend(orbit);
        }
        None
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first reachable states of a model.
fn some_states(model: &Model, interpreter: &Interpreter<'_>) -> Vec<Valuation> {
    const ENOUGH: usize = 400;
    let mut known = BTreeSet::new();
    let mut states: Vec<Valuation> = Vec::new();
    let mut add = |outcome: Outcome, states: &mut Vec<Valuation>| {
        if let Outcome::Next { state, .. } = outcome
            && states.len() < ENOUGH
            && known.insert(state.0.clone())
        {
            states.push(state);
        }
    };
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals).take(ENOUGH) {
            add(interpreter.run_start(start, &arguments), &mut states);
        }
    }
    let mut next = 0;
    while next < states.len() && states.len() < ENOUGH {
        let state = states[next].clone();
        for (rule, entry) in model.rules.iter_enumerated() {
            for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                if interpreter.enabled(rule, &arguments, &state) == Ok(true) {
                    add(interpreter.fire(rule, &arguments, &state), &mut states);
                }
            }
        }
        next += 1;
    }
    states
}

/// A model, constants, stored states, represented states.
type Figure = (&'static str, &'static [(&'static str, &'static str)], u64, u64);

fn check_figures(folder: &std::path::Path, figures: &[Figure]) {
    let wrong: Vec<String> = map_on_workers(2, figures, |&(name, constants, stored, represented)| {
        let text = std::fs::read_to_string(folder.join(name)).expect("the model");
        let constants: Vec<(String, String)> =
            constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let model = load_murphi(name, &text, &constants).unwrap_or_else(|error| panic!("{error}"));
        let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
        let report = reduced(&model, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = (report.states, report.represented.unwrap_or_default().to_string());
        (found != (stored, represented.to_string()))
            .then(|| format!("{name} {constants:?}: {found:?} and not ({stored}, {represented})"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tables II and III of Zhang et al. (2013), with the orbits of the full group. The larger ones are
/// in the benchmark.
#[test]
fn the_figures_of_constraint_based_detection() {
    check_figures(
        &workspace().join("models/murphi"),
        &[
            ("dining_philosophers.m", &[("N", "10")], 15489, 154450),
            ("dining_philosophers.m", &[("N", "12")], 140_536, 1_684_801),
            ("three_tiered.m", &[("A", "3"), ("B", "3"), ("C", "2")], 462, 7840),
            ("three_tiered.m", &[("A", "3"), ("B", "3"), ("C", "3")], 286, 21952),
            ("three_tiered.m", &[("A", "4"), ("B", "4"), ("C", "3")], 1496, 188272),
            ("two_hop_colouring.m", &[("N", "3")], 233, 13824),
            ("two_hop_colouring.m", &[("N", "4")], 3924, 331_776),
        ],
    );
}

/// The orbits that rumur counts with exhaustive symmetry reduction on declared scalarsets.
#[test]
fn the_orbits_of_the_benchmark_models() {
    check_figures(
        &workspace().join("bench/models/murphi"),
        &[
            ("german_4.m", &[], 27554, 544617),
            ("peterson_6.m", &[], 4789, 2111008),
            ("mutex_8.m", &[], 209, 176240),
            ("mutex_10.m", &[], 321, 2368104),
            ("chan_8.m", &[], 77, 1315209),
            ("dining_10.m", &[], 15489, 154450),
        ],
    );
}

/// Property 6 of the survey of Wahl and Donaldson (2010): n processes with l local states and no shared
/// variables have C(n + l - 1, n) orbits.
#[test]
fn orbits_of_processes_without_shared_variables() {
    let binomial = |n: u64, k: u64| (1..=k).fold(1, |product, factor| product * (n - k + factor) / factor);
    for (processes, local) in [(2u64, 3u64), (3, 3), (4, 4), (5, 2), (6, 3), (7, 2), (8, 3)] {
        let text = format!(
            "type p: 1..{processes}; l: 0..{};
             var at: array[p] of l;
             startstate for i: p do at[i] := 0; end; end;
             ruleset i: p do rule true ==> at[i] := (at[i] + 1) % {local}; end; end;",
            local - 1
        );
        let model = load_murphi("processes", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let report = reduced(&model, &SearchOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let found = (report.states, report.represented);
        let concrete = BigUint::from(local).pow(processes as u32);
        assert_eq!(found, (binomial(processes + local - 1, processes), Some(concrete)), "{processes}, {local}");
    }
}

/// Figures 2 and 3 of the same: two processes that are not trying, trying or critical.
#[test]
fn orbits_of_two_processes() {
    let text = "type p: 1..2; l: enum { N, T, C };
        var at: array[p] of l;
        startstate for i: p do at[i] := N; end; end;
        ruleset i: p do
          rule at[i] = N ==> at[i] := T; end;
          rule at[i] = T ==> at[i] := C; end;
          rule at[i] = C ==> at[i] := N; end;
        end;";
    let model = load_murphi("two processes", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let report = reduced(&model, &SearchOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((report.states, report.represented), (6, Some(BigUint::from(9u32))));
}
