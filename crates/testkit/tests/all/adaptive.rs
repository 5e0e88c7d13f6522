//! Adaptive symmetry reduction: the figures of the paper, and brute force on random models.

use num_bigint::BigUint;
use quotient_explicit::{AdaptiveReport, PartitionTime};
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, Outcome, PropertyKind, Valuation};
use quotient_representatives::Strategy;
use quotient_search::{Report, SearchOptions, Silent, Verdict};
use quotient_symmetry::{Classification, PartialSymmetry, classify};
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::{load_murphi, workspace};
use quotient_testkit::search::{check, check_adaptive, check_with, plan};

fn load(name: &str, constants: &[(&str, String)]) -> Model {
    let text = std::fs::read_to_string(workspace().join("models/murphi").join(name)).expect("the model");
    let constants: Vec<(String, String)> =
        constants.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    load_murphi(name, &text, &constants).unwrap_or_else(|error| panic!("{error}"))
}

/// Everything is checked but liveness and deadlocks.
fn safety(model: &Model) -> SearchOptions {
    let safety = model.properties.iter_enumerated().filter(|(_, entry)| entry.kind != PropertyKind::AlwaysReachable);
    SearchOptions {
        deadlock: DeadlockMode::Off,
        properties: Some(safety.map(|(id, _)| id).collect()),
        ..SearchOptions::default()
    }
}

fn adaptive(model: &Model) -> AdaptiveReport {
    let layout = Layout::new(model).expect("a layout");
    check_adaptive(model, &layout, &safety(model), PartitionTime::Lazy, &mut Silent)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A run with the symmetries of the whole model.
fn standard(model: &Model) -> Report {
    let layout = Layout::new(model).expect("a layout");
    let options = safety(model);
    let properties = options.properties.clone().expect("they are named");
    let plan = plan(model, &layout, &properties, SymmetrySource::Detected, Some(Strategy::Canonical))
        .unwrap_or_else(|error| panic!("{error}"));
    check_with(model, &layout, &plan, &options, &mut Silent).unwrap_or_else(|error| panic!("{error}"))
}

fn controller(processes: u64, size: u64, classes: u64) -> Model {
    let constants = [("N", processes.to_string()), ("SIZE", size.to_string()), ("K", classes.to_string())];
    load("resource_controller.m", &constants)
}

/// Section 3 of the paper: 22 states, 9 annotated ones.
#[test]
fn readers_and_writers() {
    let model = load("readers_writers.m", &[]);
    assert_eq!(check(&model, &safety(&model), &mut Silent).expect("a run").states, 22);
    let report = adaptive(&model);
    assert_eq!(report.report.states, 9);
    assert_eq!(report.report.represented.expect("few enough to count").to_string(), "22");
}

/// A shared variable that holds no member may hold one of several other things.
#[test]
fn unions_of_members_and_others() {
    let text = "type Colour: enum {red, green}; Customer: scalarset(2); Either: union {Colour, Customer}; Door: 0..2;
        var lit: boolean; held: Either; open: array [Door] of boolean;
        startstate begin lit := false; held := red; for d: Door do open[d] := false; end; end;
        ruleset e: Either do rule true ==> held := e; end; end;
        ruleset d: Door do rule true ==> open[d] := true; end; end;
        rule open[0] & open[1] ==> lit := !lit; end;";
    let model = load_murphi("either", text, &[]).expect("a model");
    let report = adaptive(&model);
    assert_eq!(report.report.states, 18);
    let states = check(&model, &safety(&model), &mut Silent).expect("a run").states;
    assert_eq!(report.report.represented.expect("few enough to count").to_string(), states.to_string());
}

/// Figures 3 and 4, at n = 18: with adaptive reduction, with the symmetries of the model, and without.
#[test]
fn the_resource_controller_of_eighteen_processes() {
    for (size, classes, annotated, orbits, states) in [(2, 9, 505, 78_729, 1_310_716_u64), (9, 2, 316, 397, 3_808_000)]
    {
        let model = controller(18, size, classes);
        let (adaptive, standard) = (adaptive(&model).report, standard(&model));
        assert_eq!((adaptive.states, standard.states), (annotated, orbits), "{classes} classes of {size}");
        for report in [adaptive, standard] {
            assert_eq!(report.represented, Some(BigUint::from(states)), "{classes} classes of {size}");
        }
        assert_eq!(check(&model, &safety(&model), &mut Silent).expect("a run").states, states);
    }
}

/// Table 1.
#[test]
fn the_resource_controller_of_eighty_processes() {
    let table: [(u64, u64, u64); 8] = [
        (2, 558, 789),
        (3, 792, 1245),
        (5, 1251, 2121),
        (7, 1698, 2949),
        (10, 2346, 4101),
        (15, 3366, 5781),
        (20, 4311, 7161),
        (25, 5181, 8241),
    ];
    for (classes, ones, twos) in table {
        for (size, annotated) in [(1, ones), (2, twos)] {
            let report = adaptive(&controller(80, size, classes));
            assert_eq!(report.report.states, annotated, "{classes} classes of {size}");
        }
    }
}

/// The formulae behind the figures, for other sizes of classes; standard reduction, too.
#[test]
fn the_formulae_of_the_resource_controller() {
    for (processes, size, classes) in [(5, 1, 2), (6, 2, 3), (7, 3, 2), (8, 1, 8), (9, 2, 3), (12, 4, 3)] {
        let report = adaptive(&controller(processes, size, classes));
        let last = processes - size * (classes - 1);
        let (mut annotated, mut represented, mut below) = (processes + 1, 1 << processes, processes);
        for class in 0..classes {
            let own = if class + 1 == classes { last } else { size };
            below -= own;
            annotated += 3 * own * (below + 1);
            represented += 3 * own * (1 << (own - 1)) * (1 << below);
        }
        assert_eq!(report.report.states, annotated, "{classes} classes of {size}");
        assert_eq!(report.report.represented.expect("few enough to count").to_string(), represented.to_string());
    }
}

/// A rule that never comes into question tells nobody apart: all states keep the coarsest partition, and
/// the partition of the rule is never computed.
#[test]
fn an_unreachable_rule_costs_nothing() {
    let model = load("unreachable_repair.m", &[]);
    let report = adaptive(&model);
    assert_eq!(report.report.verdict, Verdict::Holds);
    // Nobody inside, or one of those that are not waiting or outside: 7 + 6.
    assert_eq!(report.report.states, 13);
    assert_eq!(report.partitions, 1);
    let unknown = report.rules.iter().filter(|(_, partition)| partition.is_none()).count();
    assert_eq!(unknown, 1);
}

fn classified(text: &str) -> Classification {
    let model = load_murphi("small.m", text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let layout = Layout::new(&model).expect("a layout");
    let partial = PartialSymmetry::new(&model, &layout, &[], &quotient_ir::Budget::unlimited()).expect("families");
    classify(&partial, 10_000).expect("few states")
}

fn successors(interpreter: &Interpreter<'_>, state: &Valuation) -> Vec<Valuation> {
    let mut successors = Vec::new();
    for (rule, entry) in interpreter.model().rules.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            if interpreter.enabled(rule, &arguments, state) == Ok(true)
                && let Outcome::Next { state, .. } = interpreter.fire(rule, &arguments, state)
            {
                successors.push(state);
            }
        }
    }
    successors
}

/// Section 8 of the survey: the structure of figure 10 is not even virtually symmetric.
#[test]
fn readers_and_writers_are_not_virtually_symmetric() {
    let text = std::fs::read_to_string(workspace().join("models/murphi/readers_writers.m")).expect("the model");
    let found = classified(&text);
    let witness = found.virtual_symmetry.expect_err("a witness");
    // The transition is one of the model, and its image has the same source and target, permuted. But
    // nothing leads from there to any permutation of the target.
    let model = load("readers_writers.m", &[]);
    let layout = Layout::new(&model).expect("a layout");
    let interpreter = Interpreter::new(&model, &layout);
    let sorted = |state: &Valuation| {
        let mut values = state.0.clone();
        values.sort_unstable();
        values
    };
    let targets: Vec<Valuation> = successors(&interpreter, &witness.transition.0);
    assert!(targets.contains(&witness.transition.1));
    assert_eq!(sorted(&witness.transition.0), sorted(&witness.image.0));
    let others = successors(&interpreter, &witness.image.0);
    assert!(others.iter().all(|other| sorted(other) != sorted(&witness.image.1)));
    assert!(found.near.is_err() && found.symmetric.is_err() && found.rough.is_some_and(|rough| rough.is_err()));
}

/// One structure of each sort.
#[test]
fn near_rough_and_virtual_symmetry_are_told_apart() {
    let header = "type process: 1 .. 3; var at: array [process] of 0 .. 2;\n\
                  startstate for p: process do at[p] := 0; end; end;\n";
    let sorts = |rules: &str| {
        let found = classified(&format!("{header}{rules}"));
        let rough = found.rough.expect("plain blocks");
        [found.symmetric.is_ok(), found.near.is_ok(), rough.is_ok(), found.virtual_symmetry.is_ok()]
    };
    let local = "ruleset p: process do rule \"a\" at[p] = 1 ==> at[p] := 2; end; rule \"b\" at[p] = 2 ==> at[p] := 0; end; end;";
    let free = "ruleset p: process do rule \"s\" at[p] = 0 ==> at[p] := 1; end; end;";
    assert_eq!(sorts(&format!("{local}{free}")), [true; 4]);
    // Where all look the same, only the first may move.
    let first = "ruleset p: process do rule \"s\" at[p] = 0 & (p = 1 | exists q: process do at[q] != 0 end)\n\
                 ==> at[p] := 1; end; end;";
    assert_eq!(sorts(&format!("{local}{first}")), [false, true, true, true]);
    // Of those that wait, the first moves.
    let priority = "ruleset p: process do rule \"s\" at[p] = 0 & (forall q: process do q < p -> at[q] != 0 end)\n\
                    ==> at[p] := 1; end; end;";
    assert_eq!(sorts(&format!("{local}{priority}")), [false, false, true, true]);
    // The same orbit by different steps.
    let odd = "ruleset p: process do rule \"s\" at[p] = 0 ==> at[p] := 1; end; end;\n\
               rule \"x\" at[1] = 0 & at[2] = 0 & at[3] = 1 ==> at[1] := 2; at[3] := 1; end;\n\
               rule \"y\" at[1] = 0 & at[2] = 1 & at[3] = 0 ==> at[2] := 2; at[1] := 1; end;\n\
               rule \"z\" at[1] = 1 & at[2] = 0 & at[3] = 0 ==> at[1] := 2; at[2] := 1; end;";
    assert_eq!(sorts(odd), [false, false, false, true]);
}
