//! The state space of a Promela model, counted as SPIN does if it does not stop at errors.

use std::ops::ControlFlow;
use std::path::Path;

use quotient::languages::{Language, LoadOptions, load, source_from_bytes};
use quotient_groups::PermutationGroup;
use quotient_ir::{DeadlockMode, Diagnostic, Interpreter, Layout, Model, PropertyId, SourceStatement, Violation};
use quotient_search::{Batches, Event, Instance, SearchOptions, Sink, Successors, Tag, TransitionSystem};
use quotient_systems::{CompiledSystem, PassingSystem, SpecialisedSystem};
use rustc_hash::FxHashSet;

use crate::examples::with_files_beside;

/// The results for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The number of states, not counting those inside atomic sequences.
    pub states: u64,
    /// Whether there is a deadlock.
    pub deadlock: bool,
    /// The first run-time error.
    pub fault: Option<String>,
    /// Whether all states were seen.
    pub complete: bool,
    /// The statements that are never executed, and whether some process reaches them.
    pub unexecuted: Vec<(SourceStatement, bool)>,
}

/// Loads a Promela model.
///
/// # Errors
/// The diagnostics.
pub fn load_promela(
    path: &Path,
    constants: &[(String, String)],
    ignore_assertions: bool,
) -> Result<Model, Vec<Diagnostic>> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let source = source_from_bytes(&path.to_string_lossy(), &bytes).map_err(|diagnostic| vec![diagnostic])?;
    let source = with_files_beside(source, Language::Promela);
    let options = LoadOptions { constants: constants.to_vec(), ignore_assertions, ..LoadOptions::default() };
    load(source, Language::Promela, &options).map(|loaded| loaded.model)
}

/// The order of the group detected in a model.
///
/// # Panics
/// If the model has no layout, or a symmetry cannot be certified.
pub fn order(model: &Model) -> String {
    let layout = Layout::new(model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let detection = quotient_symmetry::detect(model, &layout, &properties, &quotient_ir::Budget::unlimited())
        .expect("symmetries can be certified");
    let group = PermutationGroup::new(detection.group.literals().degree(), detection.group.generators().to_vec());
    group.order().to_string()
}

/// Collects successors and run-time errors.
struct Found {
    successors: Successors,
    moves: bool,
    deadlock: bool,
    fault: Option<String>,
}

impl Sink for Found {
    fn successors(&mut self) -> &mut Successors {
        &mut self.successors
    }
    fn event(&mut self, _: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Next { state, .. } => self.successors.push(state, Tag::EVERYTHING),
            Event::Fault(fault) | Event::Wrong { violation: Violation::Fault { fault, .. }, .. } => {
                self.moves = true;
                self.fault.get_or_insert(fault.message);
            }
            Event::Wrong { violation, .. } => {
                self.moves = true;
                self.deadlock |= matches!(violation, Violation::Deadlock(_));
            }
            Event::Passed { .. } => self.moves = true,
            Event::Pruned | Event::Idle => {}
        }
        ControlFlow::Continue(())
    }
}

/// Explores a model up to a number of states that SPIN would store. Run-time errors are recorded and not followed.
///
/// # Panics
/// If the model has no layout.
pub fn count(model: &Model, limit: u64) -> Counts {
    let layout = Layout::new(model).expect("a model to be counted has a layout");
    let interpreter = Interpreter::new(model, &layout);
    let evaluator = SpecialisedSystem::of_reachable(&interpreter);
    let compiled = CompiledSystem::new(&evaluator, false);
    let options = SearchOptions { deadlock: DeadlockMode::Stuck, ..SearchOptions::default() };
    let system = PassingSystem::new(&compiled, &interpreter, &options);
    let mut counts = Counts { states: 0, deadlock: false, fault: None, complete: true, unexecuted: Vec::new() };
    let mut seen: FxHashSet<Box<[u64]>> = FxHashSet::default();
    let mut pending: Vec<Box<[u64]>> = Vec::new();
    let mut scratch = system.scratch();
    let mut found = Found { successors: Successors::new(system.words()), moves: false, deadlock: false, fault: None };
    system.starts(&mut scratch, &mut |instance, event| found.event(instance, event));
    loop {
        for position in 0..found.successors.len() {
            let (state, _) = found.successors.get(position);
            if !seen.contains(state) {
                seen.insert(state.into());
                counts.states += 1;
                pending.push(state.into());
            }
        }
        counts.complete = counts.states <= limit;
        let next = pending.pop().filter(|_| counts.complete);
        let Some(state) = next else {
            counts.deadlock |= found.deadlock;
            counts.fault = found.fault;
            if let Some(presentation) = &model.presentation {
                let unexecuted = presentation.unexecuted(&evaluator.unfired());
                counts.unexecuted = unexecuted.iter().map(|it| (it.statement.clone(), it.is_reached)).collect();
            }
            return counts;
        };
        found.successors.clear();
        found.moves = false;
        system.expand(&mut scratch, &state, &mut found);
        counts.deadlock |= !found.moves && found.successors.is_empty() && found.successors.passed() == 0;
    }
}
