//! Slices of random Murphi programs: on every reachable state, the slice does on the projection what the program does on
//! the state. So verdicts are the same, and the states of the slice are the projections of those of the program.
//!
//! A few hundred programs are tried; `QUOTIENT_RANDOM_PROGRAMS` sets another number, and `QUOTIENT_RANDOM_SEED` the
//! first seed.

use std::collections::HashSet;

use quotient_functions::{Slice, slice};
use quotient_ir::{DeadlockMode, Fault, Interpreter, Layout, Model, Outcome, PropertyId, Valuation, verify};
use quotient_testkit::examples::load_murphi;
use quotient_testkit::pool::map_on_workers;
use quotient_testkit::random_murphi::{ProgramOptions, Random, random_program};

fn number_from(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")),
        Err(_) => default,
    }
}

/// An outcome as far as it must be the same: messages may differ.
fn shown(slice: Option<&Slice>, layout: &Layout, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Next { state, covered } => {
            let mut state = state.clone();
            if let Some(slice) = slice {
                slice.project(layout, &mut state);
            }
            format!("{state:?} {covered:?}")
        }
        Outcome::Pruned => "dropped".to_owned(),
        Outcome::Fault(fault) => format!("{:?} {:?}", fault.kind, fault.span),
    }
}

fn truth(result: Result<bool, Fault>) -> String {
    match result {
        Ok(truth) => truth.to_string(),
        Err(fault) => format!("{:?} {:?}", fault.kind, fault.span),
    }
}

/// The numbers of states of a program and of its slice, if they agree in every step.
fn compare(
    model: &Model,
    slice: &Slice,
    checked: &[PropertyId],
    deadlock: DeadlockMode,
) -> Result<(usize, usize), String> {
    verify(&slice.model).map_err(|problems| format!("the slice is not well formed: {problems:?}"))?;
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let interpreters = [Interpreter::new(model, &layout), Interpreter::new(&slice.model, &layout)];
    let [whole, sliced] = &interpreters;
    let mut pending: Vec<Valuation> = Vec::new();
    let mut known: HashSet<Valuation> = HashSet::new();
    let mut projections: HashSet<Valuation> = HashSet::new();
    for start in model.starts.indices() {
        let entry = &model.starts[start];
        for arguments in whole.instances(&entry.parameters, &entry.locals) {
            let outcome = whole.run_start(start, &arguments);
            let other = sliced.run_start(start, &arguments);
            if shown(Some(slice), &layout, &outcome) != shown(None, &layout, &other) {
                return Err(format!("start {arguments:?}: {outcome:?} and {other:?}"));
            }
            if let Outcome::Next { state, .. } = outcome
                && known.insert(state.clone())
            {
                pending.push(state);
            }
        }
    }
    while let Some(state) = pending.pop() {
        if known.len() > 3000 {
            break;
        }
        let mut projection = state.clone();
        slice.project(&layout, &mut projection);
        projections.insert(projection.clone());
        for &property in checked {
            let entry = &model.properties[property];
            for arguments in whole.instances(&entry.parameters, &entry.locals) {
                let one = truth(whole.holds(property, &arguments, &state));
                let two = truth(sliced.holds(property, &arguments, &projection));
                if one != two {
                    return Err(format!("property {property:?} {arguments:?}: {one} and {two} in {state:?}"));
                }
            }
        }
        let mut alive = [false; 2];
        for rule in model.rules.indices() {
            let entry = &model.rules[rule];
            for arguments in whole.instances(&entry.parameters, &entry.locals) {
                let enabled = whole.enabled(rule, &arguments, &state);
                let one = truth(enabled.clone());
                let two = truth(sliced.enabled(rule, &arguments, &projection));
                if one != two {
                    return Err(format!("guard of {rule:?} {arguments:?}: {one} and {two} in {state:?}"));
                }
                if enabled != Ok(true) {
                    continue;
                }
                let outcome = whole.fire(rule, &arguments, &state);
                let other = sliced.fire(rule, &arguments, &projection);
                if shown(Some(slice), &layout, &outcome) != shown(None, &layout, &other) {
                    return Err(format!("{rule:?} {arguments:?} in {state:?}: {outcome:?} and {other:?}"));
                }
                if let (Outcome::Next { state: next, .. }, Outcome::Next { state: other, .. }) = (outcome, other) {
                    alive[0] |= next != state;
                    alive[1] |= other != projection || slice.moving_rules.contains(&rule);
                    if known.insert(next.clone()) {
                        pending.push(next);
                    }
                }
            }
        }
        if deadlock == DeadlockMode::Stuttering && alive[0] != alive[1] {
            return Err(format!("alive: {alive:?} in {state:?}"));
        }
    }
    Ok((known.len(), projections.len()))
}

/// The seed, and the numbers of states before and after if there is a slice.
fn try_seed(seed: u64) -> Result<Option<(usize, usize)>, String> {
    let options =
        ProgramOptions { extensions: seed % 2 == 1, size: 2 + (seed % 4) as u32, ..ProgramOptions::default() };
    let text = random_program(seed, &options);
    // A few programs compare what cannot be compared.
    let Ok(model) = load_murphi("random.m", &text, &[]) else { return Ok(None) };
    let layout = Layout::new(&model).map_err(|error| error.to_string())?;
    let mut random = Random::new(seed);
    let deadlock = *random.pick(&[DeadlockMode::Stuttering, DeadlockMode::Stuck]);
    let all: Vec<PropertyId> = model.properties.indices().collect();
    let checked: Vec<PropertyId> = all.into_iter().filter(|_| random.percent(30)).collect();
    let Some(slice) = slice(&model, &layout, &checked, deadlock) else { return Ok(None) };
    let compared = compare(&model, &slice, &checked, deadlock);
    compared.map(Some).map_err(|error| {
        format!(
            "seed {seed}, {deadlock:?}, {checked:?}: {error}\n{:?} {:?}\n{text}",
            slice.unread, slice.only_definedness
        )
    })
}

#[test]
fn slices_of_random_programs_do_the_same() {
    let first = number_from("QUOTIENT_RANDOM_SEED", 1);
    let count = number_from("QUOTIENT_RANDOM_PROGRAMS", 400);
    let seeds: Vec<u64> = (first..first + count).collect();
    let results = map_on_workers(2, &seeds, |&seed| try_seed(seed));
    let mut sliced = 0;
    let mut smaller = 0;
    for result in results {
        match result {
            Ok(Some((states, projections))) => {
                sliced += 1;
                smaller += usize::from(projections < states);
            }
            Ok(None) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(
        sliced * 10 > count as usize && smaller * 20 > count as usize,
        "of {count}, {sliced} have slices, {smaller} smaller"
    );
}
