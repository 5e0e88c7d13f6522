//! Concrete runs from annotated states. A state that an annotated state represents is traced back step by step: the
//! step that produced the annotated state is found again, and the permutation that maps its target to the given state
//! maps its source to the preceding state.

use std::ops::ControlFlow;

use quotient_ir::{Interpreter, Trace, TraceStep, Violation, replay};

use super::partitions::PartitionNumber;
use super::search::Annotated;
use super::stepper::{Fired, Stepper};
use quotient_search::{EngineError, Event, TransitionSystem};

/// A run to a state that the last annotated state of a path represents, replayed.
///
/// # Errors
/// If a step cannot be found again or the reference interpreter does not agree.
pub(super) fn rebuild(
    stepper: &mut Stepper<'_, '_>,
    interpreter: &Interpreter<'_>,
    path: &[Annotated],
    last: Vec<u64>,
    violation: Violation,
) -> Result<Trace, EngineError> {
    let mut states = vec![last];
    for annotated in path.iter().rev().skip(1) {
        let before = predecessor(stepper, annotated, states.last().expect("there is one"))?;
        states.push(before);
    }
    states.reverse();
    let mut steps = Vec::with_capacity(states.len());
    let mut scratch = stepper.system.scratch();
    for (number, state) in states.iter().enumerate() {
        let mut found = None;
        let mut visit = |instance: quotient_search::Instance<'_>, event: Event<'_>| match event {
            Event::Next { state: next, .. } if next == &state[..] => {
                found = Some((instance.action, instance.arguments.to_vec()));
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        };
        match number.checked_sub(1) {
            None => stepper.system.starts(&mut scratch, &mut visit),
            Some(before) => stepper.system.successors(&mut scratch, &states[before], &mut visit),
        }
        let (action, arguments) =
            found.ok_or(EngineError::Rebuild("no action leads from one state of it to the next"))?;
        steps.push(TraceStep { action, arguments, state: interpreter.layout().unpack(state) });
    }
    let trace = Trace::new(steps, Some(violation));
    replay(interpreter, &trace)?;
    Ok(trace)
}

/// A state that an annotated state represents and from which a step leads to the given one.
fn predecessor(stepper: &mut Stepper<'_, '_>, from: &Annotated, to: &[u64]) -> Result<Vec<u64>, EngineError> {
    let kinds = stepper.kinds(&from.state, from.partition);
    let rules: Vec<_> = stepper.partial.model().rules.indices().collect();
    let mut target: Option<(PartitionNumber, Vec<u64>, Vec<usize>)> = None;
    for rule in rules {
        let Some(edges) = stepper.known_edges(rule).map(<[usize]>::to_vec) else { continue };
        for edge in edges {
            let (partition, firings) = stepper.fire(edge, &from.state, from.partition, &kinds);
            for firing in firings {
                let Fired::Next { state: mut after, .. } = firing.fired else { continue };
                if target.as_ref().is_none_or(|(known, ..)| *known != partition) {
                    let mut representative = to.to_vec();
                    stepper.canonicalize(&mut representative, partition);
                    target = Some((partition, representative, stepper.desk.places.clone()));
                }
                let (_, representative, places) = target.as_ref().expect("it was just filled in");
                stepper.canonicalize(&mut after, partition);
                if after == *representative {
                    // From the target of the step to the representative, and on to the given state.
                    let mut back = vec![0; places.len()];
                    for (member, &place) in places.iter().enumerate() {
                        back[place] = member;
                    }
                    let way: Vec<usize> = stepper.desk.places.iter().map(|&place| back[place]).collect();
                    let mut before = Vec::new();
                    stepper.arrangement.apply(&firing.before, &way, &mut before);
                    return Ok(before);
                }
            }
        }
    }
    Err(EngineError::Rebuild("the step to an annotated state is not found again"))
}
