//! The state space of a Promela model, counted as SPIN counts it: states inside atomic sequences,
//! which SPIN passes through without storing them, are told apart from the others.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use quotient_engines::{Event, SpecialisedSystem, TransitionSystem};
use quotient_frontends::{Language, LoadOptions, load, source_from_bytes};
use quotient_ir::{Diagnostic, Interpreter, Layout, Model};

/// What there is to see in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// States that SPIN stores.
    pub states: u64,
    /// States inside atomic sequences besides.
    pub passing: u64,
    /// Whether there is a state without a way on.
    pub deadlock: bool,
    /// The first fault.
    pub fault: Option<String>,
    /// Whether all states were seen.
    pub complete: bool,
}

/// Loads a Promela model.
///
/// # Errors
/// What is wrong with it.
pub fn load_promela(
    path: &Path,
    constants: &[(String, String)],
    ignore_assertions: bool,
) -> Result<Model, Vec<Diagnostic>> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let source = source_from_bytes(&path.to_string_lossy(), &bytes).map_err(|diagnostic| vec![diagnostic])?;
    let options = LoadOptions { constants: constants.to_vec(), ignore_assertions, ..LoadOptions::default() };
    load(source, Language::Promela, &options).map(|loaded| loaded.model)
}

/// Explores a model up to a number of states. Faults are noted and not followed.
///
/// # Panics
/// If the model has no layout.
pub fn count(model: &Model, limit: usize) -> Counts {
    let layout = Layout::new(model).expect("a model to be counted has a layout");
    let interpreter = Interpreter::new(model, &layout);
    let system = SpecialisedSystem::new(&interpreter);
    let atomic = model.variables.iter_enumerated().find(|(_, variable)| variable.name == "atomic");
    let atomic = atomic.map(|(id, _)| layout.slots[layout.first_slot(id)].clone());
    let passes = |state: &[u64]| {
        atomic.as_ref().is_some_and(|slot| {
            let mask = if slot.width == 0 { 0 } else { u64::MAX >> (64 - slot.width) };
            slot.value((state[slot.bit as usize / 64] >> (slot.bit % 64)) & mask) != Some(-1)
        })
    };
    let mut counts = Counts { states: 0, passing: 0, deadlock: false, fault: None, complete: true };
    let mut seen: HashSet<Box<[u64]>> = HashSet::new();
    let mut pending: Vec<Box<[u64]>> = Vec::new();
    let mut scratch = system.scratch();
    let mut found: Vec<Box<[u64]>> = Vec::new();
    system.starts(&mut scratch, |_, event| {
        match event {
            Event::Next { state, .. } => found.push(state.into()),
            Event::Fault(fault) => counts.fault = Some(fault.message),
            Event::Pruned | Event::Idle => {}
        }
        ControlFlow::Continue(())
    });
    loop {
        for state in found.drain(..) {
            if seen.insert(state.clone()) {
                if passes(&state) {
                    counts.passing += 1;
                } else {
                    counts.states += 1;
                }
                pending.push(state);
            }
        }
        if seen.len() > limit {
            counts.complete = false;
            return counts;
        }
        let Some(state) = pending.pop() else { return counts };
        let mut moves = false;
        system.successors(&mut scratch, &state, |_, event| {
            match event {
                Event::Next { state, .. } => {
                    moves = true;
                    found.push(state.into());
                }
                Event::Fault(fault) => {
                    moves = true;
                    counts.fault.get_or_insert(fault.message);
                }
                Event::Pruned | Event::Idle => {}
            }
            ControlFlow::Continue(())
        });
        counts.deadlock |= !moves;
    }
}
