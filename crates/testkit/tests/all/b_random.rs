//! Random B: every way to search a machine gives the same verdict, and formulas over variables have the values
//! that the same formulas over constants have.

use std::collections::BTreeSet;

use quotient::languages::{Language, LoadOptions, WellDefinedness, load};
use quotient_explicit::PartitionTime;
use quotient_ir::{
    DeadlockMode, Interpreter, Layout, Model, Outcome, PrintOptions, PropertyId, Source, StartId, TableIndex,
    print_murphi, verify,
};
use quotient_representatives::Strategy;
use quotient_search::{SearchOptions, Silent, Verdict};
use quotient_systems::SymmetrySource;
use quotient_testkit::agreement::compare_compiled;
use quotient_testkit::random_b::{random_formulas, random_machine, random_partial_machine};
use quotient_testkit::rumur::{Rumur, RumurOptions};
use quotient_testkit::search::{check, check_adaptive, check_with, plan};

fn options() -> SearchOptions {
    SearchOptions { deadlock: DeadlockMode::Stuck, max_states: Some(3_000), ..SearchOptions::default() }
}

fn read(text: &str) -> Model {
    let loaded = load(Source::new("random.mch", text), Language::B, &LoadOptions::default());
    let model = loaded.unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics:#?}")).model;
    assert_eq!(verify(&model), Ok(()), "{text}");
    model
}

#[test]
fn random_machines_have_the_same_verdict_with_every_reduction() {
    let mut compared = 0;
    for seed in 1..=18 {
        let text = random_machine(seed);
        let model = read(&text);
        let whole = check(&model, &options(), &mut Silent).expect("a report");
        if whole.verdict == Verdict::Inconclusive {
            continue;
        }
        compared += 1;
        let layout = Layout::new(&model).expect("a layout");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let mut orbits = 0;
        for strategy in [Strategy::Canonical, Strategy::MarkersCanonical, Strategy::Markers, Strategy::MarkersTrees] {
            let plan = plan(&model, &layout, &properties, SymmetrySource::Declared, Some(strategy))
                .unwrap_or_else(|error| panic!("{error}: {text}"));
            let report = check_with(&model, &layout, &plan, &options(), &mut Silent)
                .unwrap_or_else(|error| panic!("{error}: {text}"));
            let is_exact = plan.reduction.as_ref().is_none_or(|reduction| reduction.is_exact());
            if strategy == Strategy::Canonical {
                assert!(plan.reduction.is_some(), "no symmetry: {text}");
                orbits = report.states;
            }
            if is_exact || whole.verdict == Verdict::Holds {
                assert!(is_exact || report.verdict == Verdict::Inconclusive, "{strategy}: {text}");
                assert!(!is_exact || report.verdict == whole.verdict, "{strategy}: {text}");
            }
            if whole.verdict == Verdict::Holds {
                assert!(report.states <= orbits, "{strategy}: {text}");
                if is_exact {
                    assert_eq!(report.states, orbits, "{strategy}: {text}");
                    assert_eq!(report.represented, whole.represented, "{strategy}: {text}");
                }
            }
        }
    }
    assert!(compared >= 8, "only {compared} machines were small enough");
}

#[test]
fn formulas_over_variables_have_the_values_of_formulas_over_constants() {
    let mut compared = 0;
    for seed in 1..=30 {
        let text = random_formulas(seed, 4);
        // A formula without a value makes the properties ill-defined.
        let Ok(loaded) = load(Source::new("random.mch", text.as_str()), Language::B, &LoadOptions::default()) else {
            continue;
        };
        assert_eq!(verify(&loaded.model), Ok(()), "{text}");
        let report = check(&loaded.model, &options(), &mut Silent).expect("a report");
        let wrong: Vec<_> = report.properties.iter().filter(|it| it.verdict != Verdict::Holds).collect();
        assert_eq!(report.verdict, Verdict::Holds, "seed {seed}: {wrong:?}\n{text}");
        compared += 1;
    }
    assert!(compared >= 25, "only {compared} formulas have values");
}

#[test]
fn rumur_agrees_on_random_machines() {
    let Some(rumur) = Rumur::find_or_skip("comparing random B machines with rumur") else {
        return;
    };
    let peer = RumurOptions { deadlock: DeadlockMode::Stuck, ..RumurOptions::default() };
    let mut compared = 0;
    for seed in 1..=30 {
        let text = random_machine(seed);
        let model = read(&text);
        let whole = check(&model, &options(), &mut Silent).expect("a report");
        if whole.verdict != Verdict::Holds || whole.states > 600 {
            continue;
        }
        let murphi = print_murphi(&model, &PrintOptions::default()).unwrap_or_else(|error| panic!("{error}: {text}"));
        let answer = rumur.check(&murphi, &peer).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(answer.states, Some(whole.states), "{}: {text}", answer.message);
        compared += 1;
        if compared == 2 {
            return;
        }
    }
}

/// The states of a machine in which a condition without a value is an error, if a step that runs into one is left
/// out; whether there is one.
fn states_without_errors(model: &Model, limit: usize) -> Option<(usize, bool)> {
    let layout = Layout::new(model).expect("a layout");
    let interpreter = Interpreter::new(model, &layout);
    let Outcome::Next { state, .. } = interpreter.run_start(StartId::from_position(0), &[]) else {
        panic!("the root is a state");
    };
    let mut known = BTreeSet::from([state.0.to_vec()]);
    let mut pending = vec![state];
    let mut errors = false;
    while let Some(state) = pending.pop() {
        for (id, rule) in model.rules.iter_enumerated() {
            for arguments in interpreter.instances(&rule.parameters, &rule.locals) {
                match interpreter.enabled(id, &arguments, &state) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(_) => {
                        errors = true;
                        continue;
                    }
                }
                match interpreter.fire(id, &arguments, &state) {
                    Outcome::Next { state, .. } => {
                        if known.insert(state.0.to_vec()) {
                            pending.push(state);
                        }
                    }
                    Outcome::Pruned => {}
                    Outcome::Fault(_) => errors = true,
                }
            }
        }
        if known.len() > limit {
            return None;
        }
    }
    Some((known.len(), errors))
}

/// A condition without a value disables an operation: the same states are reached as by leaving out the steps that
/// go wrong where it is an error, by the interpreter, the evaluator, compiled code and every reduction. Remarks are
/// made where something goes wrong there, and nowhere else.
#[test]
fn conditions_without_a_value_count_as_false() {
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..options() };
    let (mut compared, mut remarked) = (0, 0);
    for seed in 1..=24 {
        let text = random_partial_machine(seed);
        let model = read(&text);
        let strict = LoadOptions { well_definedness: Some(WellDefinedness::Error), ..LoadOptions::default() };
        let strict = load(Source::new("random.mch", text.as_str()), Language::B, &strict).expect("it was read").model;
        let Some((states, errors)) = states_without_errors(&strict, 1_000) else { continue };
        let whole = check(&model, &options, &mut Silent).expect("a report");
        assert_eq!((whole.verdict, whole.states), (Verdict::Holds, states as u64), "{text}");
        assert_eq!(!whole.remarks.is_empty(), errors, "{:?}: {text}", whole.remarks);
        compare_compiled(&model, 200).unwrap_or_else(|error| panic!("{error}: {text}"));
        compared += 1;
        remarked += usize::from(errors);
        let layout = Layout::new(&model).expect("a layout");
        let properties: Vec<PropertyId> = model.properties.indices().collect();
        let remarks: BTreeSet<PropertyId> = whole.remarks.iter().copied().collect();
        for source in [SymmetrySource::Declared, SymmetrySource::Detected] {
            let plan = plan(&model, &layout, &properties, source, Some(Strategy::Canonical))
                .unwrap_or_else(|error| panic!("{error}: {text}"));
            let report = check_with(&model, &layout, &plan, &options, &mut Silent)
                .unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!((report.verdict, report.represented), (Verdict::Holds, whole.represented.clone()), "{text}");
            assert_eq!(report.remarks.iter().copied().collect::<BTreeSet<_>>(), remarks, "{text}");
        }
        let adaptive = check_adaptive(&model, &layout, &options, PartitionTime::Lazy, &mut Silent)
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(adaptive.report.verdict, Verdict::Holds, "{text}");
        assert_eq!(adaptive.report.remarks.iter().copied().collect::<BTreeSet<_>>(), remarks, "{text}");
    }
    assert!(compared >= 10 && remarked >= 8, "{compared} machines were small enough, {remarked} with remarks");
}
