//! Rules that never fire: a finished search names those of which no instance can fire in any reachable state,
//! as the reference interpreter sees them, also where it searched representatives or annotated states only, and
//! where it was stopped on its way.

use quotient_explicit::{AdaptiveError, PartitionTime};
use quotient_ir::{DeadlockMode, Interpreter, Layout, Model, Outcome, RuleId};
use quotient_search::{Report, SearchOptions, Silent};
use quotient_systems::{ReductionPlan, SymmetrySource};
use quotient_testkit::examples::{load_murphi, murphi_examples, promela_examples};
use quotient_testkit::oracle::explore;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::promela::load_promela;
use quotient_testkit::search::{check, check_adaptive, check_with, plan};

/// The reference interpreter is naive; larger models are left out.
const LARGEST: usize = 1500;

/// What no state lets fire. Nothing for a model that is too large or goes wrong.
fn never_fired_by_definition(model: &Model) -> Option<Vec<RuleId>> {
    let exploration = explore(model, DeadlockMode::Off, LARGEST);
    if exploration.states as usize >= LARGEST {
        return None;
    }
    let layout = Layout::new(model).expect("a layout");
    let interpreter = Interpreter::new(model, &layout);
    let fires = |rule: RuleId| {
        let entry = &model.rules[rule];
        exploration.reached.iter().any(|state| {
            interpreter.instances(&entry.parameters, &entry.locals).any(|arguments| {
                interpreter.enabled(rule, &arguments, state) == Ok(true)
                    && matches!(interpreter.fire(rule, &arguments, state), Outcome::Next { .. })
            })
        })
    };
    Some(model.rules.indices().filter(|&rule| !fires(rule)).collect())
}

/// What the searches say: without and with symmetries, by annotated states where that can be done, and by one that
/// was stopped again and again. Nothing if they did not finish.
fn never_fired_by_searches(model: &Model) -> Option<Vec<Vec<RuleId>>> {
    let options =
        SearchOptions { deadlock: DeadlockMode::Off, properties: Some(Vec::new()), ..SearchOptions::default() };
    let layout = Layout::new(model).expect("a layout");
    let plan = plan(model, &layout, &[], SymmetrySource::Detected, None).expect("a plan");
    let whole = check(model, &options, &mut Silent).expect("a report");
    let reduced = check_with(model, &layout, &plan, &options, &mut Silent).expect("a report");
    let mut found = vec![whole.never_fired?, reduced.never_fired?];
    match check_adaptive(model, &layout, &options, PartitionTime::Lazy, &mut Silent) {
        Ok(adaptive) => found.push(adaptive.report.never_fired?),
        Err(AdaptiveError::Unsupported(_) | AdaptiveError::Refused(_)) => {}
        Err(error) => panic!("{error}"),
    }
    let folder = tempfile::tempdir().expect("a folder");
    let checkpoint = Some(folder.path().join("checkpoint"));
    for plan in [None, Some(&plan)] {
        let mut resumed = SearchOptions { checkpoint: checkpoint.clone(), ..options.clone() };
        let part = (whole.states / 4).max(1);
        for times in 1..4 {
            resumed.max_states = Some(times * part);
            let stopped = search(model, &layout, plan, &resumed);
            if stopped.stop_reason.is_none() {
                break;
            }
            resumed.resume = checkpoint.clone();
        }
        resumed.max_states = None;
        found.push(search(model, &layout, plan, &resumed).never_fired?);
    }
    Some(found)
}

fn search(model: &Model, layout: &Layout, plan: Option<&ReductionPlan>, options: &SearchOptions) -> Report {
    let report = match plan {
        Some(plan) => check_with(model, layout, plan, options, &mut Silent),
        None => check(model, options, &mut Silent),
    };
    report.expect("a report")
}

#[test]
fn examples() {
    let mut models: Vec<(String, Model)> = Vec::new();
    for example in murphi_examples() {
        if let Some(model) = example.header.cases.first().and_then(|case| example.load(case).ok()) {
            models.push((example.name.clone(), model));
        }
    }
    for path in promela_examples() {
        if let Ok(model) = load_promela(&path, &[], true) {
            models.push((path.display().to_string(), model));
        }
    }
    let compared = map_on_workers(2, &models, |(name, model)| {
        let expected = never_fired_by_definition(model)?;
        for (way, found) in never_fired_by_searches(model)?.iter().enumerate() {
            assert_eq!(*found, expected, "{name}, search {way}");
        }
        Some(expected.len())
    });
    let compared: Vec<usize> = compared.into_iter().flatten().collect();
    assert!(compared.len() > 10 && compared.iter().any(|&count| count > 0), "{compared:?}");
}

/// Symmetries exchange rules, not only instances of one: a representative may leave a rule out whose image it
/// fires.
#[test]
fn rules_that_symmetries_exchange() {
    let text = r#"
        var left, right: 0..3;
        startstate begin left := 0; right := 0 end;
        rule "left goes" left = 0 & right = 0 ==> begin left := 1 end;
        rule "right goes" left = 0 & right = 0 ==> begin right := 1 end;
        rule "left comes back" left = 1 ==> begin left := 0 end;
        rule "right comes back" right = 1 ==> begin right := 0 end;
        rule "left is lost" left = 2 ==> begin left := 3 end;
        rule "right is lost" right = 2 ==> begin right := 3 end;
    "#;
    let model = load_murphi("exchange.m", text, &[]).expect("a model");
    let expected = never_fired_by_definition(&model).expect("a small model");
    let names: Vec<&str> = expected.iter().filter_map(|&rule| model.rules[rule].name.as_deref()).collect();
    assert_eq!(names, ["left is lost", "right is lost"]);
    let layout = Layout::new(&model).expect("a layout");
    let plan = plan(&model, &layout, &[], SymmetrySource::Detected, None).expect("a plan");
    assert!(plan.reduction.is_some());
    let found = never_fired_by_searches(&model).expect("finished searches");
    assert!(found.iter().all(|it| *it == expected), "{found:?}");
}
