//! Searches that continue past violations: every way to search finds the same properties violated and the same kinds
//! of errors, each by a run that is as short as can be, as a breadth-first search with the reference interpreter does.

use std::collections::{BTreeMap, BTreeSet};

use quotient_ir::{
    Action, Budget, DeadlockMode, Fault, FaultKind, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind,
    Trace, Valuation, Violation, replay,
};
use quotient_representatives::Strategy;
use quotient_search::{Report, SearchOptions, Silent, Spill, StopReason, Subject, Verdict, ViolationLimit};
use quotient_symmetry::Preserved;
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::{load_murphi, murphi_examples};
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};

/// What is violated, and how many steps a shortest run to it has.
type Kinds = BTreeMap<String, usize>;

fn place(fault: &Fault) -> String {
    format!("{:?} at {:?}", fault.kind, fault.span)
}

fn invariant(property: PropertyId) -> String {
    format!("{property:?} not satisfied")
}

/// All violations by brute force; none if there are too many states or something is not known.
fn oracle(model: &Model, layout: &Layout, deadlock: DeadlockMode, limit: usize) -> Option<Kinds> {
    let interpreter = Interpreter::new(model, layout);
    let mut kinds = Kinds::new();
    let mut note = |kind: String, steps: usize| {
        kinds.entry(kind).or_insert(steps);
    };
    let known = |fault: &Fault| (fault.kind != FaultKind::Exhausted).then_some(());
    let mut seen: BTreeSet<Vec<Option<i64>>> = BTreeSet::new();
    let mut level: Vec<Valuation> = Vec::new();
    let mut steps = 0;
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            outcomes.push(interpreter.run_start(start, &arguments));
        }
    }
    loop {
        // What the last level led to.
        let mut next = Vec::new();
        for outcome in std::mem::take(&mut outcomes) {
            let state = match outcome {
                Outcome::Next { state, .. } => state,
                Outcome::Pruned => continue,
                Outcome::Fault(fault) => {
                    known(&fault)?;
                    note(place(&fault), steps);
                    continue;
                }
            };
            if !seen.insert(state.0.clone()) {
                continue;
            }
            let mut is_dropped = false;
            for kind in [PropertyKind::Assumption, PropertyKind::Invariant] {
                for (property, entry) in model.properties.iter_enumerated().filter(|(_, entry)| entry.kind == kind) {
                    for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                        match interpreter.holds(property, &arguments, &state) {
                            _ if is_dropped => {}
                            Ok(true) => {}
                            Err(fault) if fault.kind == FaultKind::Exhausted => return None,
                            value if kind == PropertyKind::Assumption => {
                                is_dropped = true;
                                if value.is_err() {
                                    note(format!("{property:?} without a value"), steps + 1);
                                }
                            }
                            _ => note(invariant(property), steps + 1),
                        }
                    }
                }
            }
            if is_dropped {
                continue;
            }
            for (property, entry) in model.properties.iter_enumerated() {
                if matches!(entry.kind, PropertyKind::Cover | PropertyKind::AlwaysReachable) {
                    for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                        if let Err(fault) = interpreter.holds(property, &arguments, &state) {
                            known(&fault)?;
                            note(format!("{property:?} without a value"), steps + 1);
                        }
                    }
                }
            }
            next.push(state);
        }
        if seen.len() > limit {
            return None;
        }
        level.clear();
        level.append(&mut next);
        if level.is_empty() {
            return Some(kinds);
        }
        steps += 1;
        for state in &level {
            let mut can_move = false;
            for (rule, entry) in model.rules.iter_enumerated() {
                for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                    let outcome = match interpreter.enabled(rule, &arguments, state) {
                        Ok(true) => interpreter.fire(rule, &arguments, state),
                        Ok(false) => continue,
                        Err(fault) => Outcome::Fault(fault),
                    };
                    can_move |= match &outcome {
                        Outcome::Next { state: next, .. } => deadlock != DeadlockMode::Stuttering || next != state,
                        Outcome::Pruned => false,
                        Outcome::Fault(_) => true,
                    };
                    outcomes.push(outcome);
                }
            }
            if !can_move && deadlock != DeadlockMode::Off {
                note("deadlock".to_owned(), steps);
            }
        }
    }
}

/// What a search found, with every run replayed.
fn found(model: &Model, layout: &Layout, report: &Report) -> Result<Kinds, String> {
    let interpreter = Interpreter::new(model, layout);
    let mut kinds = Kinds::new();
    for property in &report.properties {
        for trace in property.traces() {
            replay(&interpreter, trace).map_err(|error| format!("a run does not replay: {error}"))?;
            let Some(kind) = kind_of(model, trace, property.subject) else { continue };
            if property.verdict != Verdict::Violated {
                return Err(format!("{kind} is shown, and the verdict is {:?}", property.verdict));
            }
            if kinds.insert(kind.clone(), trace.steps.len()).is_some() {
                return Err(format!("{kind} is shown twice"));
            }
        }
    }
    Ok(kinds)
}

fn kind_of(model: &Model, trace: &Trace, subject: Subject) -> Option<String> {
    Some(match trace.violation.as_ref()? {
        Violation::Unreachable { .. } | Violation::Temporal { .. } => return None,
        Violation::Deadlock(_) => "deadlock".to_owned(),
        Violation::Property { property, .. } => invariant(*property),
        Violation::PropertyFault { property, .. } if model.properties[*property].kind == PropertyKind::Invariant => {
            assert_eq!(subject, Subject::Property(*property));
            invariant(*property)
        }
        Violation::PropertyFault { property, .. } => format!("{property:?} without a value"),
        Violation::Fault { fault, .. } => place(fault),
    })
}

/// A file that no other search of this process writes to.
fn checkpoint() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("quotient-all-errors-{}-{number}", std::process::id()))
}

/// Compares all ways to search with brute force; returns how many kinds there are, and by how many symmetries.
fn compare(model: &Model, deadlock: DeadlockMode, limit: usize) -> Result<Option<(usize, bool)>, String> {
    let text = |error: quotient_search::EngineError| error.to_string();
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let Some(expected) = oracle(model, &layout, deadlock, limit) else { return Ok(None) };
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let preserved = Preserved::PropertiesAndSteps { properties: &properties, errors: true, firings: false };
    let plan = quotient_systems::plan(
        model,
        &layout,
        preserved,
        SymmetrySource::Detected,
        Some(Strategy::Canonical),
        &Budget::unlimited(),
    )
    .map_err(text)?;
    let base = SearchOptions { deadlock, violations: ViolationLimit::All, ..SearchOptions::default() };
    let has_liveness = model.properties.iter().any(|property| property.kind == PropertyKind::AlwaysReachable);
    let spill = Spill { folder: std::env::temp_dir(), max_bytes: None };
    let on_disk = SearchOptions { spill: Some(spill), max_memory: Some(1 << 12), ..base.clone() };
    let mut ways = vec![
        ("memory", base.clone()),
        ("threads", SearchOptions { threads: 2, ..base.clone() }),
        ("any order", SearchOptions { threads: 2, ordered_states: 2, ..base.clone() }),
        ("dense", SearchOptions { dense_from: Some(1 << 12), ..base.clone() }),
        ("dense in any order", SearchOptions { threads: 2, ordered_states: 2, dense_from: Some(0), ..base.clone() }),
    ];
    if !has_liveness {
        ways.push(("disk", on_disk));
    }
    for (way, options) in &ways {
        for reduction in [None, Some(&plan)] {
            let report = quotient_explicit::check(model, &layout, reduction, options, &mut Silent).map_err(text)?;
            let own = found(model, &layout, &report)?;
            let how = if reduction.is_some() { "reduced" } else { "whole" };
            if own != expected {
                return Err(format!("{way}, {how}: {own:?} instead of {expected:?}"));
            }
            if report.stop_reason.is_some() {
                return Err(format!("{way}, {how}: stopped, {:?}", report.stop_reason));
            }
        }
    }
    // Stopped again and again, and continued on one thread and on two.
    let path = checkpoint();
    let mut options = SearchOptions { max_states: Some(1), checkpoint: Some(path.clone()), ..base.clone() };
    let resumed = loop {
        let report = quotient_explicit::check(model, &layout, Some(&plan), &options, &mut Silent).map_err(text)?;
        match report.stop_reason {
            Some(StopReason::StateLimit(states)) => {
                options.max_states = Some(3 * states + 5);
                options.threads = 3 - options.threads;
                options.resume = Some(path.clone());
            }
            None => break report,
            other => return Err(format!("stopped: {other:?}")),
        }
    };
    let _ = std::fs::remove_file(&path);
    let own = found(model, &layout, &resumed)?;
    if own != expected {
        return Err(format!("resumed: {own:?} instead of {expected:?}"));
    }
    // Some of them.
    if expected.len() > 2 {
        for (threads, ordered_states) in [(1, u64::MAX), (2, u64::MAX), (2, 1)] {
            let violations = ViolationLimit::Kinds(2);
            let options = SearchOptions { violations, threads, ordered_states, ..base.clone() };
            let report = quotient_explicit::check(model, &layout, Some(&plan), &options, &mut Silent).map_err(text)?;
            let own = found(model, &layout, &report)?;
            let are_known = own.iter().all(|(kind, steps)| expected.get(kind) == Some(steps));
            if own.len() != 2 || !are_known || report.stop_reason != Some(StopReason::Violation) {
                return Err(format!("two of them: {own:?} of {expected:?}, {:?}", report.stop_reason));
            }
        }
    }
    Ok(Some((expected.len(), plan.reduction.is_some())))
}

fn compare_programs(default: u64, least: (usize, usize), program: impl Fn(u64) -> String + Sync) {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_MODELS", default)).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let model = load_murphi("random", &program(seed), &[]).ok()?;
        Some(compare(&model, DeadlockMode::Stuttering, 600).map_err(|error| format!("seed {seed}: {error}")))
    });
    let results: Vec<_> = results.into_iter().flatten().collect();
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(10)]);
    let compared: Vec<(usize, bool)> = results.into_iter().filter_map(|result| result.ok().flatten()).collect();
    let several = compared.iter().filter(|(kinds, _)| *kinds > 1).count();
    let reduced = compared.iter().filter(|&&(kinds, reduced)| kinds > 1 && reduced).count();
    assert!(several >= least.0 && reduced >= least.1, "{several} with several violations, {reduced} of them reduced");
}

#[test]
fn all_errors_of_random_programs() {
    compare_programs(150, (10, 0), |seed| random_program(seed, &ProgramOptions::default()));
}

#[test]
fn all_errors_of_symmetric_programs() {
    compare_programs(150, (10, 5), |seed| {
        symmetric_program(seed, if seed % 2 == 0 { Kind::Symmetric } else { Kind::NearlySymmetric })
    });
}

#[test]
fn all_errors_of_the_example_models() {
    let mut work = Vec::new();
    for example in murphi_examples() {
        for case in 0..example.header.cases.len() {
            if example.header.cases[case].states <= 3000 {
                work.push((example.clone(), case));
            }
        }
    }
    let wrong: Vec<String> = map_on_workers(2, &work, |(example, case)| {
        let case = &example.header.cases[*case];
        let compared = example.load(case).and_then(|model| compare(&model, example.header.deadlock, 5000));
        compared.err().map(|error| format!("{} {}: {error}", example.name, case.label()))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Errors at different places are different errors: symmetries must not exchange them.
#[test]
fn symmetries_do_not_exchange_errors() {
    let text = "
        type Id: scalarset(3);
        var a: array[1..3] of 0..2; s: array[Id] of 0..2; u: array[Id] of boolean;
        startstate for i: 1..3 do a[i] := 0 end; for i: Id do s[i] := 0 end; end;
        ruleset i: 1..3 do rule \"step\" a[i] < 2 ==> a[i] := a[i] + 1 end; end;
        ruleset i: Id do rule \"grow\" s[i] < 2 ==> s[i] := s[i] + 1 end; end;
        rule a[1] = 2 ==> error \"first\" end;
        rule a[2] = 2 ==> error \"second\" end;
        rule a[3] = 2 & a[1] = 1 ==> assert a[2] != 1 \"third\" end;
        ruleset i: Id do rule s[i] = 1 ==> if u[i] then s[i] := 0 end end; end;
        invariant \"few\" !exists i: Id do s[i] = 2 end;
        invariant \"fewer\" exists i: Id do s[i] != 2 end;
        invariant \"has a value\" forall i: Id do s[i] = 0 -> u[i] end;";
    let model = load_murphi("places", text, &[]).expect("a model");
    let (kinds, is_reduced) = compare(&model, DeadlockMode::Stuttering, 5000).expect("all agree").expect("few states");
    assert_eq!((kinds, is_reduced), (7, true));
}

/// A rule that goes wrong can fire: the state is no deadlock.
#[test]
fn a_state_with_an_error_is_not_a_deadlock() {
    let text = "
        var x: 0..2;
        startstate x := 0 end;
        rule x = 0 ==> x := 1 end;
        rule x = 1 ==> x := x + 2 end;";
    let model = load_murphi("error", text, &[]).expect("a model");
    assert_eq!(compare(&model, DeadlockMode::Stuttering, 10), Ok(Some((1, false))));
}

/// An error that nobody asked about leaves open what would come after it.
#[test]
fn an_error_that_is_not_asked_for_leaves_the_rest_open() {
    let text = "
        var x: 0..3;
        startstate x := 0 end;
        rule x < 3 ==> x := x + 1 end;
        rule x = 1 ==> error \"one\" end;
        invariant \"two\" x != 2;
        invariant \"four\" x != 4;";
    let model = load_murphi("unasked", text, &[]).expect("a model");
    let layout = Layout::new(&model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let options = SearchOptions {
        violations: ViolationLimit::All,
        deadlock: DeadlockMode::Off,
        errors: false,
        properties: Some(properties),
        ..SearchOptions::default()
    };
    let report = quotient_explicit::check(&model, &layout, None, &options, &mut Silent).expect("a report");
    let verdicts: Vec<Verdict> = report.properties.iter().map(|property| property.verdict).collect();
    assert_eq!(verdicts, [Verdict::Violated, Verdict::Inconclusive]);
    assert!(matches!(report.stop_reason, Some(StopReason::Fault(_))));
    let fault = report.fault.expect("the run to it");
    assert!(matches!(fault.violation, Some(Violation::Fault { action: Action::Rule(_), .. })));
}
