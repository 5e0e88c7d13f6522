//! Compares compiled code, the evaluator and the reference interpreter on the states of one model.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::reference::ReferenceSystem;
use quotient_explicit::layout_for;
use quotient_ir::{Fault, FaultKind, Interpreter, Layout, Model, PropertyId, PropertyKind, Valuation};
use quotient_search::{Batches, Event, Facts, Instance, Sink, Successors, TransitionSystem};
use quotient_systems::{CompiledSystem, SpecialisedSystem};

/// The outcome of firing an instance, as far as all three report it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Happening {
    Next(Vec<u64>, Vec<PropertyId>),
    Fault(Fault),
}

/// The results of an expansion, with tags if there are any.
struct Collector {
    successors: Successors,
    found: Vec<(Happening, Option<u64>)>,
}

impl Collector {
    fn new(words: usize) -> Self {
        Self { successors: Successors::new(words), found: Vec::new() }
    }
    fn drain(&mut self) {
        for position in 0..self.successors.len() {
            let (state, tag) = self.successors.get(position);
            self.found.push((Happening::Next(state.to_vec(), Vec::new()), Some(tag)));
        }
        self.successors.clear();
    }
}

impl Sink for Collector {
    fn successors(&mut self) -> &mut Successors {
        &mut self.successors
    }
    fn event(&mut self, _instance: Instance<'_>, event: Event<'_>) -> ControlFlow<()> {
        self.drain();
        match event {
            Event::Next { state, covered } => {
                self.found.push((Happening::Next(state.to_vec(), covered.to_vec()), None));
            }
            Event::Fault(fault) => self.found.push((Happening::Fault(fault), None)),
            // Compiled code does not report these.
            Event::Pruned | Event::Idle | Event::Passed { .. } | Event::Wrong { .. } => {}
        }
        ControlFlow::Continue(())
    }
}

fn expansion<S: Batches>(system: &S, scratch: &mut S::Scratch, state: &[u64]) -> Vec<(Happening, Option<u64>)> {
    let mut collector = Collector::new(system.words());
    system.expand(scratch, state, &mut collector);
    collector.drain();
    collector.found
}

fn keeps_promises<S: TransitionSystem>(system: &S, scratch: &mut S::Scratch, model: &Model, state: &[u64]) -> bool {
    let mut keeps = true;
    for (id, property) in model.properties.iter_enumerated() {
        if matches!(property.kind, PropertyKind::Assumption | PropertyKind::Invariant) {
            system.evaluate(scratch, id, state, &mut |_, value| {
                keeps &= value == Ok(true);
                ControlFlow::Continue(())
            });
        }
    }
    keeps
}

/// Compares the successors of at most `limit` reachable states, and what is claimed to be safe about them; returns the
/// number of states compared.
///
/// # Errors
/// The first disagreement.
pub fn compare_compiled(model: &Model, limit: usize) -> Result<usize, String> {
    let layout = Layout::new(model).map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(model, &layout);
    let evaluator = SpecialisedSystem::new(&interpreter);
    let settled = SpecialisedSystem::of_reachable(&interpreter);
    // Tables for small models, too: by default the compiler makes them for large ones only. Also the system on a
    // machine without a code generator.
    let compiled = [
        CompiledSystem::new(&settled, true),
        CompiledSystem::quickly(&settled, true),
        CompiledSystem::with_tables(&settled, true),
        CompiledSystem::with_tables(&evaluator, true),
        CompiledSystem::without_code(&settled),
    ];
    let reference = ReferenceSystem::new(&interpreter);
    let mut scratch = evaluator.scratch();
    let mut reference_scratch = reference.scratch();

    let mut found = HashSet::new();
    let mut queue = Vec::new();
    reference.starts(&mut reference_scratch, &mut |_, event| {
        if let Event::Next { state, .. } = event
            && found.insert(state.to_vec())
        {
            queue.push(state.to_vec());
        }
        if queue.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let mut compared = 0;
    while let Some(state) = queue.get(compared).cloned() {
        compared += 1;
        let expected = expansion(&reference, &mut reference_scratch, &state);
        let without_tags = |steps: &[(Happening, Option<u64>)]| -> Vec<Happening> {
            steps.iter().map(|(happening, _)| happening.clone()).collect()
        };
        let [steps, others @ ..] = compiled.each_ref().map(|system| expansion(system, &mut scratch, &state));
        for steps in std::iter::once(&steps).chain(&others) {
            if without_tags(steps) != without_tags(&expected) {
                let place = layout.unpack(&state);
                return Err(format!("compiled code gives {steps:?} and not {expected:?} in {place:?}"));
            }
        }
        let safe = keeps_promises(&evaluator, &mut scratch, model, &state);
        for (happening, tag) in steps {
            let Happening::Next(next, _) = happening else { continue };
            if let Some(tag) = tag.filter(|&tag| safe && compiled[0].is_safe(tag, &next))
                && !keeps_promises(&reference, &mut reference_scratch, model, &next)
            {
                let (from, to) = (layout.unpack(&state), layout.unpack(&next));
                return Err(format!("the step from {from:?} to {to:?} is not safe, but its tag {tag} is"));
            }
            if found.len() < limit && found.insert(next.clone()) {
                queue.push(next);
            }
        }
    }
    let states: Vec<Valuation> = queue.iter().map(|state| layout.unpack(state)).collect();
    if layout.multisets().is_empty() {
        compare_narrowed(&reference, &interpreter, &states)?;
    }
    Ok(compared)
}

/// Compares compiled code for a layout that has room for the first of some states with the reference interpreter: on
/// states that fit, each step leads to the same state, or is reported to need more room.
fn compare_narrowed(
    reference: &ReferenceSystem<'_>,
    interpreter: &Interpreter<'_>,
    states: &[Valuation],
) -> Result<(), String> {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    for share in [1, 3, 20] {
        let narrow = layout_for(model, layout, &states[..states.len().div_ceil(share)]);
        if narrow == *layout {
            continue;
        }
        let narrow_interpreter = Interpreter::new(model, &narrow);
        let evaluator = SpecialisedSystem::new(&narrow_interpreter);
        let compiled = [CompiledSystem::quickly(&evaluator, true), CompiledSystem::with_tables(&evaluator, true)];
        let (mut scratch, mut reference_scratch) = (evaluator.scratch(), reference.scratch());
        for state in states.iter().filter(|state| narrow.admits(state)) {
            let expected = expansion(reference, &mut reference_scratch, &layout.state(state).0);
            for system in &compiled {
                let found = expansion(system, &mut scratch, &narrow.state(state).0);
                let agree = found.len() == expected.len()
                    && found.iter().zip(&expected).all(|((found, _), (expected, _))| match (found, expected) {
                        (Happening::Next(found, covered), Happening::Next(expected, all)) => {
                            narrow.unpack(found) == layout.unpack(expected) && covered == all
                        }
                        (Happening::Fault(fault), Happening::Next(expected, _)) => {
                            fault.kind == FaultKind::Exhausted && !narrow.admits(&layout.unpack(expected))
                        }
                        (found, expected) => found == expected,
                    });
                if !agree {
                    return Err(format!("narrowed code gives {found:?} and not {expected:?} in {state:?}"));
                }
            }
        }
    }
    Ok(())
}
