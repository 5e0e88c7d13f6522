//! Random models that say which states are passed through, against brute force: the closure over all
//! states by the reference interpreter, of which those that are not passed through count. Searches in
//! both orders, on several threads, on disk and stopped on their way, on the reference interpreter, reduced by symmetries,
//! markers and annotated states agree with it, and with those that store everything.
//!
//! `QUOTIENT_RANDOM_PASSING` sets the number of models, `QUOTIENT_RANDOM_SEED` the first seed.

use num_bigint::BigUint;
use quotient::languages::{Language, LoadOptions, load};
use quotient_explicit::{AdaptiveError, PartitionTime, check_system};
use quotient_ir::{
    DeadlockMode, Expr, Formula, Interpreter, Layout, Model, Property, PropertyId, PropertyKind, Source, Span,
    UnaryOperator, verify,
};
use quotient_representatives::Strategy;
use quotient_search::{Report, SearchOptions, SearchOrder, Silent, Spill, StopReason, Verdict};
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::load_murphi;
use quotient_testkit::oracle::{Exploration, explore};
use quotient_testkit::partial_murphi::partial_program;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::{ProgramOptions, Random, random_program};
use quotient_testkit::random_promela::random_promela;
use quotient_testkit::reference::ReferenceSystem;
use quotient_testkit::search::{check, check_adaptive, check_with, cross_check, plan};
use quotient_testkit::switches::number_from;
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};
use quotient_testkit::verdict::{Answer, VerdictClass};

/// Larger state spaces are left to others.
const LARGEST: usize = 3000;

/// The random model of a seed, in which the condition of a property or the guard of a rule, or the
/// opposite, tells which states are passed through: one that tells some states from others, if there is one.
fn random_model(seed: u64) -> Option<Model> {
    let text = match seed % 4 {
        0 => random_program(seed, &ProgramOptions { size: 2, most_states: 1000, extensions: seed.is_multiple_of(8) }),
        1 => partial_program(seed),
        _ => symmetric_program(seed, Kind::Symmetric),
    };
    let mut model = load_murphi("random", &text, &[]).ok()?;
    let mut random = Random::new(seed ^ 0x7061_7373);
    let properties = model.properties.iter().filter(|property| property.parameters.is_empty());
    let conditions = properties.filter_map(|property| Some((property.formula.condition()?, property.locals.clone())));
    let rules = model.rules.iter().filter(|rule| rule.parameters.is_empty());
    let guards = rules.map(|rule| (rule.guard, rule.locals.clone()));
    let candidates: Vec<_> = conditions.chain(guards).collect();
    if candidates.is_empty() {
        return None;
    }
    let reached = explore(&bare(&model), DeadlockMode::Off, LARGEST).reached;
    for trial in 0..8 {
        let (mut condition, locals) = random.pick(&candidates).clone();
        if random.percent(50) {
            let expression = Expr::Unary { operator: UnaryOperator::Not, operand: condition };
            condition = model.pool.expression(expression);
        }
        let mut passing = model.clone();
        passing.properties.push(Property {
            name: Some("passing".into()),
            kind: PropertyKind::Passing,
            parameters: Vec::new(),
            locals,
            formula: condition.into(),
            span: Span::default(),
        });
        let layout = Layout::new(&passing).ok()?;
        let interpreter = Interpreter::new(&passing, &layout);
        let count = reached.iter().filter(|state| interpreter.passes(state)).count();
        if 0 < count && 2 * count <= reached.len() || trial == 7 {
            assert_eq!(verify(&passing), Ok(()), "seed {seed}");
            return Some(passing);
        }
    }
    None
}

/// The same model without invariants, so that its searches end later.
fn without_invariants(model: &Model) -> Model {
    let mut lenient = model.clone();
    for id in model.properties.indices() {
        let property = &mut lenient.properties[id];
        if property.kind == PropertyKind::Invariant {
            // As if it stood for a cover statement.
            (property.kind, property.formula) = (PropertyKind::Cover, Formula::CoverStatement);
        }
    }
    lenient
}

/// The same model with nothing to claim about it, and nothing passed through.
fn bare(model: &Model) -> Model {
    let mut bare = without_invariants(model);
    for id in model.properties.indices() {
        let property = &mut bare.properties[id];
        if property.kind != PropertyKind::Assumption {
            (property.kind, property.formula) = (PropertyKind::Cover, Formula::CoverStatement);
        }
    }
    bare
}

fn is_complete(class: VerdictClass) -> bool {
    matches!(class, VerdictClass::Holds | VerdictClass::Cover | VerdictClass::Liveness)
}

/// Whether a report says what brute force says. Where several things are wrong, which of them comes first
/// depends on the order of states.
fn agrees(model: &Model, report: &Report, expected: &Exploration) -> Result<(), String> {
    let class = Answer::of(model, report).class;
    let same = match (is_complete(expected.class), is_complete(class)) {
        (true, true) => {
            report.states == expected.states
                && (class == VerdictClass::Holds) == (expected.class == VerdictClass::Holds)
        }
        (false, false) => (class == VerdictClass::Inconclusive) == (expected.class == VerdictClass::Inconclusive),
        _ => false,
    };
    if same {
        return Ok(());
    }
    let Exploration { class: right, states, .. } = expected;
    Err(format!("{class:?} with {} states instead of {right:?} with {states}", report.states))
}

/// What one search must have in common with another, whatever it used.
fn figures(report: &Report) -> (Verdict, Option<StopReason>, u64, u64, u64, usize) {
    let steps = report.properties.iter().filter_map(|property| property.trace.as_ref()).map(|trace| trace.steps.len());
    let Report { verdict, stop_reason, states, transitions, depth, .. } = report;
    (*verdict, stop_reason.clone(), *states, *transitions, *depth, steps.sum())
}

fn compare(model: &Model, deadlock: DeadlockMode) -> Result<bool, String> {
    let text = |error: quotient_search::EngineError| error.to_string();
    let expected = explore(model, deadlock, LARGEST);
    if expected.class == VerdictClass::Inconclusive {
        return Ok(false);
    }
    let options = SearchOptions { deadlock, ..SearchOptions::default() };
    let found = check(model, &options, &mut Silent).map_err(text)?;
    agrees(model, &found, &expected).map_err(|error| format!("one thread: {error}"))?;
    for threads in [2, 3] {
        let other = check(model, &SearchOptions { threads, ..options.clone() }, &mut Silent).map_err(text)?;
        if figures(&other) != figures(&found) {
            return Err(format!("{threads} threads: {:?}, one: {:?}", figures(&other), figures(&found)));
        }
    }
    compare_resumed(model, &options, &found)?;
    let spill = Some(Spill { folder: std::env::temp_dir(), max_bytes: None });
    let on_disk = SearchOptions { spill, max_memory: Some(1 << 20), ..options.clone() };
    // Liveness is not judged on disk.
    let judges = model.properties.iter().any(|property| property.kind == PropertyKind::AlwaysReachable);
    let other = if judges { found.clone() } else { check(model, &on_disk, &mut Silent).map_err(text)? };
    if figures(&other) != figures(&found) {
        return Err(format!("on disk: {:?}, in memory: {:?}", figures(&other), figures(&found)));
    }
    let depth_first = SearchOptions { order: SearchOrder::DepthFirst, ..options.clone() };
    let other = check(model, &depth_first, &mut Silent).map_err(text)?;
    agrees(model, &other, &expected).map_err(|error| format!("depth-first: {error}"))?;

    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(model, &layout);
    let reference = ReferenceSystem::new(&interpreter);
    let other = check_system(&reference, &interpreter, &options, &mut Silent).map_err(text)?;
    if figures(&other) != figures(&found) {
        return Err(format!("reference: {:?}, compiled: {:?}", figures(&other), figures(&found)));
    }
    let stored = SearchOptions { store_passing: true, ..options.clone() };
    let all = check(model, &stored, &mut Silent).map_err(text)?;
    let same_verdict = match is_complete(expected.class) {
        // Only whether something can be reached for good depends on what lies between.
        true => all.verdict == found.verdict || expected.class == VerdictClass::Liveness,
        false => all.verdict == found.verdict,
    };
    if !same_verdict {
        return Err(format!("everything stored: {:?}, else {:?}", all.verdict, found.verdict));
    }
    if is_complete(expected.class) {
        let bare = explore(&bare(model), DeadlockMode::Off, 10 * LARGEST);
        if all.states != bare.states {
            return Err(format!("{} states stored instead of {}", all.states, bare.states));
        }
    }
    compare_reduced(model, &layout, &options, &expected)?;
    Ok(is_complete(expected.class) && expected.states > 1)
}

/// Searches that are stopped on their way, perhaps in a stretch between two stored states, and go on.
fn compare_resumed(model: &Model, options: &SearchOptions, found: &Report) -> Result<(), String> {
    let text = |error: quotient_search::EngineError| error.to_string();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let checkpoint = Some(folder.path().join("checkpoint"));
    for (threads, later) in [(1, 2), (2, 1)] {
        let mut resume = None;
        for part in 1..4 {
            let max_states = Some((found.states * part / 4).max(1));
            let limits =
                SearchOptions { threads, max_states, checkpoint: checkpoint.clone(), resume, ..options.clone() };
            let stopped = check(model, &limits, &mut Silent).map_err(text)?;
            resume = checkpoint.clone().filter(|path| path.exists());
            if !matches!(stopped.stop_reason, Some(StopReason::StateLimit(_))) {
                break;
            }
        }
        let rest = SearchOptions { threads: later, resume, ..options.clone() };
        let report = check(model, &rest, &mut Silent).map_err(text)?;
        let figures = [figures(&report), figures(found)];
        if figures[0] != figures[1] || report.never_fired != found.never_fired {
            return Err(format!(
                "stopped on {threads} threads and gone on: {:?}, at once: {:?}",
                figures[0], figures[1]
            ));
        }
    }
    Ok(())
}

/// Searches of representatives, by markers and of annotated states.
fn compare_reduced(
    model: &Model,
    layout: &Layout,
    options: &SearchOptions,
    expected: &Exploration,
) -> Result<(), String> {
    let text = |error: quotient_search::EngineError| error.to_string();
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    for strategy in Strategy::ALL {
        let plan = plan(model, layout, &properties, SymmetrySource::Detected, Some(strategy)).map_err(text)?;
        let Some(reduction) = &plan.reduction else { continue };
        let is_exact = reduction.canonicalizer.is_exact() && !reduction.is_approximate();
        for threads in [1, 2] {
            let options = SearchOptions { threads, ..options.clone() };
            let report = match reduction.is_approximate() {
                true => check_with(model, layout, &plan, &options, &mut Silent).map_err(text)?,
                false => cross_check(model, layout, &plan, &options, &mut Silent).map_err(text)?.0,
            };
            if reduction.is_approximate() {
                if report.verdict == Verdict::Violated
                    && is_complete(expected.class)
                    && expected.class != VerdictClass::Cover
                {
                    return Err(format!("{strategy} finds what is not there"));
                }
                continue;
            }
            let represented = BigUint::from(expected.states);
            if is_complete(expected.class) && is_exact && report.represented != Some(represented) {
                return Err(format!("{strategy}: {:?} represented of {}", report.represented, expected.states));
            }
        }
    }
    let is_safety = model.properties.iter().all(|property| property.kind != PropertyKind::AlwaysReachable);
    if !is_safety {
        return Ok(());
    }
    match check_adaptive(model, layout, options, PartitionTime::Lazy, &mut Silent) {
        Ok(adaptive) => {
            let report = &adaptive.report;
            let class = Answer::of(model, report).class;
            let same = is_complete(class) == is_complete(expected.class);
            let counted = report.represented.as_ref().is_none_or(|it| *it == BigUint::from(expected.states));
            if !same || is_complete(class) && !counted {
                let states = expected.states;
                return Err(format!("adaptive: {class:?}, {:?} represented of {states}", report.represented));
            }
            Ok(())
        }
        Err(AdaptiveError::Refused(_) | AdaptiveError::Unsupported(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn searches_agree_with_brute_force() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 0);
    let seeds: Vec<u64> = (first..first + number_from("QUOTIENT_RANDOM_PASSING", 200)).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let model = random_model(seed)?;
        let deadlock = [DeadlockMode::Off, DeadlockMode::Stuck, DeadlockMode::Stuttering][(seed / 4 % 3) as usize];
        let compared = compare(&model, deadlock);
        let lenient = without_invariants(&model);
        let compared = compared.and_then(|found| Ok(found | compare(&lenient, DeadlockMode::Off)?));
        Some(compared.map_err(|error| format!("seed {seed}, {deadlock:?}: {error}")))
    });
    let results: Vec<Result<bool, String>> = results.into_iter().flatten().collect();
    let wrong: Vec<&str> = results.iter().filter_map(|it| it.as_ref().err()).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), results.len(), wrong.join("\n"));
    let compared = results.iter().filter(|it| **it == Ok(true)).count();
    assert!(compared * 3 >= results.len(), "only {compared} of {} were searched to the end", results.len());
}

/// Atomic sequences of Promela programs are passed through; a search that is stopped in one goes on behind it.
#[test]
fn promela_programs_go_on() {
    let seeds: Vec<u64> = (1..=60).collect();
    let compared = map_on_workers(2, &seeds, |&seed| {
        let source = Source::new("random.pml", random_promela(seed));
        let options = LoadOptions { ignore_assertions: true, ..LoadOptions::default() };
        let model = load(source, Language::Promela, &options).ok()?.model;
        model.properties.iter().find(|property| property.kind == PropertyKind::Passing)?;
        let options = SearchOptions { deadlock: DeadlockMode::Off, max_states: Some(5000), ..SearchOptions::default() };
        let found = check(&model, &options, &mut Silent).expect("a report");
        if found.states < 10 || matches!(found.stop_reason, Some(StopReason::StateLimit(_))) {
            return None;
        }
        Some(compare_resumed(&model, &options, &found).map_err(|error| format!("seed {seed}: {error}")))
    });
    let compared: Vec<Result<(), String>> = compared.into_iter().flatten().collect();
    assert!(compared.iter().all(Result::is_ok), "{compared:?}");
    assert!(compared.len() >= 20, "only {} programs pass through states", compared.len());
}
