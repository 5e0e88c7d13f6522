//! Concrete runs from stored states. The store keeps only the parent of each state; which instance
//! led from one to the other is found again by firing them all.

use std::ops::ControlFlow;

use quotient_ir::{Interpreter, Layout, Trace, TraceStep, replay};

use crate::report::EngineError;
use crate::search::Finding;
use crate::store::Store;
use crate::system::{Event, Instance, TransitionSystem};

/// The run that a finding stands for, replayed with the reference interpreter.
///
/// # Errors
/// If the run cannot be found again or the reference interpreter does not agree with it.
pub(crate) fn rebuild<S: TransitionSystem>(
    system: &S,
    store: &Store,
    finding: &Finding,
    interpreter: &Interpreter<'_>,
) -> Result<Trace, EngineError> {
    let mut scratch = system.scratch();
    let mut path: Vec<&[u64]> = Vec::new();
    let mut number = finding.origin;
    while let Some(state) = number {
        path.push(store.state(state));
        number = store.parent(state);
    }
    path.reverse();
    path.extend(finding.state.as_deref());
    let mut steps = Vec::with_capacity(path.len());
    let mut before = None;
    for &state in &path {
        steps.push(find_step(system, &mut scratch, before, state, interpreter.layout())?);
        before = Some(state);
    }
    let trace = Trace { steps, violation: Some(finding.violation.clone()) };
    replay(interpreter, &trace)?;
    Ok(trace)
}

/// The first step from one state (or from nothing) to another.
fn find_step<S: TransitionSystem>(
    system: &S,
    scratch: &mut S::Scratch,
    before: Option<&[u64]>,
    after: &[u64],
    layout: &Layout,
) -> Result<TraceStep, EngineError> {
    let mut found = None;
    let visit = |instance: Instance<'_>, event: Event<'_>| match event {
        Event::Next { state, .. } if state == after => {
            found = Some((instance.action, instance.arguments.to_vec()));
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    match before {
        None => system.starts(scratch, visit),
        Some(before) => system.successors(scratch, before, visit),
    }
    let (action, arguments) = found.ok_or(EngineError::Rebuild("no action leads from one state of it to the next"))?;
    Ok(TraceStep { action, arguments, state: layout.unpack(after) })
}
