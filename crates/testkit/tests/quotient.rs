//! The quotient against the whole state space: the same verdicts, orbit sizes that add up to the
//! states of the model, runs that replay, and the figures of the papers.

use std::collections::BTreeSet;

use num_bigint::BigUint;
use quotient_engines::{Report, SearchOptions, SearchOrder, Silent, Verdict, check, check_quotient};
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, Outcome, PropertyId, Valuation, replay};
use quotient_symmetry::{Canonicalizer, LivenessInstances, StateMap, Workspace, detect, detect_with};
use quotient_testkit::examples::{load_murphi, murphi_examples, workspace};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::rumur::explain_skip;

/// Searches one state of each orbit of the symmetries that detection finds.
fn reduced(model: &Model, options: &SearchOptions) -> Result<Report, String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let detection =
        detect_with(model, &layout, &properties, LivenessInstances::OneByOne).map_err(|error| error.to_string())?;
    let canonicalizer = Canonicalizer::new(model, &layout, &detection.group).map_err(|error| error.to_string())?;
    let report =
        check_quotient(model, &layout, &canonicalizer, options, &mut Silent).map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(model, &layout);
    for property in &report.properties {
        if let Some(trace) = &property.trace {
            replay(&interpreter, trace).map_err(|error| format!("a run does not replay: {error}"))?;
        }
    }
    Ok(report)
}

#[test]
fn reduced_and_whole_searches_agree_on_the_example_models() {
    let mut work = Vec::new();
    for example in murphi_examples() {
        for case in 0..example.header.cases.len() {
            for order in [SearchOrder::BreadthFirst, SearchOrder::DepthFirst] {
                if example.header.cases[case].states <= 60_000 {
                    work.push((example.clone(), case, order));
                }
            }
        }
    }
    let wrong: Vec<String> = map_on_workers(2, &work, |(example, case, order)| {
        let case = &example.header.cases[*case];
        let compare = || -> Result<(), String> {
            let model = example.load(case)?;
            let options =
                SearchOptions { order: *order, deadlock: example.header.deadlock, ..SearchOptions::default() };
            let whole = check(&model, &options, &mut Silent).map_err(|error| error.to_string())?;
            let quotient = reduced(&model, &options)?;
            if whole.verdict != quotient.verdict {
                return Err(format!("{:?} reduced, {:?} whole", quotient.verdict, whole.verdict));
            }
            if whole.verdict == Verdict::Holds && quotient.represented != whole.represented {
                return Err(format!("{} represented, {} whole", quotient.represented, whole.represented));
            }
            if quotient.states > whole.states {
                return Err(format!("{} stored, {} whole", quotient.states, whole.states));
            }
            let lengths = |report: &Report| -> Vec<usize> {
                report.properties.iter().filter_map(|entry| Some(entry.trace.as_ref()?.steps.len())).collect()
            };
            if *order == SearchOrder::BreadthFirst && lengths(&whole) != lengths(&quotient) {
                return Err(format!("runs of {:?} steps reduced, {:?} whole", lengths(&quotient), lengths(&whole)));
            }
            Ok(())
        };
        compare().err().map(|error| format!("{} {}, {order:?}: {error}", example.name, case.label()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
        let detection = detect(&model, &layout, &[]).expect("certified symmetries");
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
        let found = (report.states, report.represented.to_string());
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
            ("three_tiered.m", &[("A", "3"), ("B", "3"), ("C", "2")], 462, 7840),
            ("three_tiered.m", &[("A", "3"), ("B", "3"), ("C", "3")], 286, 21952),
            ("three_tiered.m", &[("A", "4"), ("B", "4"), ("C", "3")], 1496, 188272),
            ("two_hop_colouring.m", &[("N", "3")], 233, 13824),
        ],
    );
}

/// The orbits that rumur counts with exhaustive symmetry reduction on declared scalarsets.
#[test]
fn the_orbits_of_the_benchmark_models() {
    let folder = workspace().join("../shared/peers/murphi");
    if !folder.is_dir() {
        explain_skip("the orbits of the benchmark models", "the models are not there");
        return;
    }
    check_figures(
        &folder,
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
