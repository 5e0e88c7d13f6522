//! Constraints: states in which one is false are stored and checked, and not expanded, in every search alike, with and
//! without symmetries.

use std::collections::BTreeSet;

use num_bigint::BigUint;
use quotient_ir::{Budget, DeadlockMode, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, Valuation};
use quotient_representatives::Strategy;
use quotient_search::{Report, SearchOptions, Silent, Spill, StopReason, Verdict};
use quotient_symmetry::Preserved;
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::load_murphi;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};
use quotient_testkit::symmetric_murphi::{Kind, symmetric_program};

/// The states within a constraint, and how many of them are not expanded; none if something goes wrong in one.
fn oracle(model: &Model, layout: &Layout, limit: usize) -> Option<(u64, u64)> {
    let interpreter = Interpreter::new(model, layout);
    let all = |kind: PropertyKind, state: &Valuation| -> Option<bool> {
        let mut holds = true;
        for (property, entry) in model.properties.iter_enumerated().filter(|(_, entry)| entry.kind == kind) {
            for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                holds &= interpreter.holds(property, &arguments, state).ok()?;
            }
        }
        Some(holds)
    };
    let mut seen: BTreeSet<Vec<Option<i64>>> = BTreeSet::new();
    let mut waiting: Vec<Valuation> = Vec::new();
    let mut unexpanded = 0;
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            outcomes.push(interpreter.run_start(start, &arguments));
        }
    }
    loop {
        for outcome in std::mem::take(&mut outcomes) {
            match outcome {
                Outcome::Pruned => {}
                Outcome::Fault(_) => return None,
                Outcome::Next { state, .. } => {
                    if all(PropertyKind::Assumption, &state)? && seen.insert(state.0.clone()) {
                        waiting.push(state);
                    }
                }
            }
        }
        let Some(state) = waiting.pop() else { return Some((seen.len() as u64, unexpanded)) };
        if seen.len() > limit {
            return None;
        }
        if !all(PropertyKind::Constraint, &state)? {
            unexpanded += 1;
            continue;
        }
        for (rule, entry) in model.rules.iter_enumerated() {
            for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                if interpreter.enabled(rule, &arguments, &state).ok()? {
                    outcomes.push(interpreter.fire(rule, &arguments, &state));
                }
            }
        }
    }
}

/// Compares all ways to search; returns how many states were not expanded, and whether symmetries were used.
fn compare(model: &Model) -> Result<Option<(u64, bool)>, String> {
    let text = |error: quotient_search::EngineError| error.to_string();
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let Some((states, unexpanded)) = oracle(model, &layout, 600) else { return Ok(None) };
    let preserved = Preserved::Properties(&[]);
    let (source, strategy) = (SymmetrySource::Detected, Some(Strategy::Canonical));
    let plan = quotient_systems::plan(model, &layout, preserved, source, strategy, &Budget::unlimited());
    let plan = plan.map_err(text)?;
    // Nothing but the states themselves.
    let base = SearchOptions { deadlock: DeadlockMode::Off, properties: Some(Vec::new()), ..SearchOptions::default() };
    let spill = Spill { folder: std::env::temp_dir(), max_bytes: None };
    let disk = SearchOptions { spill: Some(spill), max_memory: Some(1 << 12), ..base.clone() };
    let path = std::env::temp_dir().join(format!("quotient-constraint-{}-{:p}", std::process::id(), model));
    let ways = [
        ("memory", base.clone()),
        ("threads", SearchOptions { threads: 2, ..base.clone() }),
        ("any order", SearchOptions { threads: 2, ordered_states: 3, ..base.clone() }),
        ("disk", disk),
    ];
    let check = |report: &Report, reduces: bool, way: &str| -> Result<(), String> {
        let cut = match report.stop_reason {
            None => 0,
            Some(StopReason::Constraint(cut)) => cut,
            ref other => return Err(format!("{way}: stopped, {other:?}")),
        };
        let right_cut = if reduces { (cut > 0) == (unexpanded > 0) && cut <= unexpanded } else { cut == unexpanded };
        let verdict = if unexpanded > 0 { Verdict::Inconclusive } else { Verdict::Holds };
        if report.represented != Some(BigUint::from(states)) || !right_cut || report.verdict != verdict {
            let (found, verdict) = (&report.represented, report.verdict);
            return Err(format!("{way}: {found:?} states, {cut} cut, {verdict:?}; not {states} and {unexpanded}"));
        }
        Ok(())
    };
    for (way, options) in &ways {
        for reduction in [None, Some(&plan)] {
            let report = quotient_explicit::check(model, &layout, reduction, options, &mut Silent).map_err(text)?;
            check(&report, reduction.is_some(), way)?;
        }
    }
    let mut options = SearchOptions { max_states: Some(1), checkpoint: Some(path.clone()), ..base };
    let resumed = loop {
        let report = quotient_explicit::check(model, &layout, None, &options, &mut Silent).map_err(text)?;
        let Some(StopReason::StateLimit(states)) = report.stop_reason else { break report };
        options.max_states = Some(3 * states + 5);
        options.threads = 3 - options.threads;
        options.resume = Some(path.clone());
    };
    let _ = std::fs::remove_file(&path);
    check(&resumed, false, "resumed")?;
    Ok(Some((unexpanded, plan.reduction.is_some())))
}

/// The program of a seed with one of its invariants as a constraint.
fn constrained(text: &str) -> Option<Model> {
    let mut model = load_murphi("random", text, &[]).ok()?;
    let is_fit = |id: &PropertyId| {
        let property = &model.properties[*id];
        property.kind == PropertyKind::Invariant && property.parameters.is_empty()
    };
    let chosen = model.properties.indices().find(is_fit)?;
    model.properties[chosen].kind = PropertyKind::Constraint;
    Some(model)
}

fn compare_programs(programs: u64, least: (usize, usize), program: impl Fn(u64) -> String + Sync) {
    let seeds: Vec<u64> = (0..programs).collect();
    let results = map_on_workers(2, &seeds, |&seed| {
        let model = constrained(&program(seed))?;
        Some(compare(&model).map_err(|error| format!("seed {seed}: {error}")))
    });
    let results: Vec<_> = results.into_iter().flatten().collect();
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(10)]);
    let compared: Vec<(u64, bool)> = results.into_iter().filter_map(|result| result.ok().flatten()).collect();
    let cut = compared.iter().filter(|(cut, _)| *cut > 0).count();
    let reduced = compared.iter().filter(|&&(cut, reduced)| cut > 0 && reduced).count();
    assert!(cut >= least.0 && reduced >= least.1, "{cut} cut, {reduced} of them reduced");
}

#[test]
fn constraints_of_random_programs() {
    compare_programs(120, (3, 0), |seed| random_program(seed, &ProgramOptions::default()));
}

#[test]
fn constraints_of_symmetric_programs() {
    compare_programs(120, (3, 3), |seed| {
        symmetric_program(seed, if seed % 2 == 0 { Kind::Symmetric } else { Kind::NearlySymmetric })
    });
}
