//! Follows a run of which only partial information about each step is known: a search among the runs of the model that
//! agree with it. The furthest run is extended first, so that a step that the information does not require is tried
//! only if nothing else leads on.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use quotient_ir::{Action, Interpreter, TraceStep, Valuation, Violation};

use crate::walk::{Candidate, Candidates, Consequence, starts, successors};

/// The maximum number of states visited.
const MOST_STATES: usize = 200_000;

/// A step that may be the next one.
pub(super) struct PossibleStep<'a> {
    pub(super) action: Action,
    pub(super) arguments: &'a [i64],
    /// The state before it; none for a start.
    pub(super) before: Option<&'a Valuation>,
    /// The state after it; none if the step fails.
    pub(super) after: Option<&'a Valuation>,
}

/// A run that was followed to its end.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) steps: Vec<TraceStep>,
    /// The run-time error in the step after these, if the run ends with one.
    pub(super) violation: Option<Violation>,
}

/// How far a run could be followed.
#[derive(Debug)]
pub(super) struct Lost {
    /// The furthest position that was reached.
    pub(super) position: usize,
    /// Steps of one run to there.
    pub(super) steps: Vec<TraceStep>,
    /// Whether the search gave up, rather than finding that there is no such run.
    pub(super) gave_up: bool,
}

/// A state of a run, and how it was reached.
struct Reached {
    parent: Option<usize>,
    step: TraceStep,
    position: usize,
}

/// The steps of a run from position 0 to `end`. `advance` returns the position to which a step leads from another one,
/// if it agrees with the information.
pub(super) fn follow(
    interpreter: &Interpreter<'_>,
    end: usize,
    mut advance: impl FnMut(usize, &PossibleStep<'_>) -> Option<usize>,
) -> Result<Followed, Lost> {
    let mut reached: Vec<Reached> = Vec::new();
    let mut seen: HashSet<(usize, Valuation)> = HashSet::new();
    let mut open: BinaryHeap<(usize, Reverse<usize>)> = BinaryHeap::new();
    let mut gave_up = false;
    let mut parent = None;
    loop {
        let (position, before) = match parent {
            None => (0, None),
            Some(parent) => {
                let Reached { position, step, .. } = &reached[parent];
                (*position, Some(step.state.clone()))
            }
        };
        let Candidates { list, is_cut } = match &before {
            None => starts(interpreter),
            Some(state) => successors(interpreter, state),
        };
        gave_up |= is_cut;
        for Candidate { action, arguments, consequence } in list {
            let (after, violation) = match consequence {
                Consequence::State(state) => (Some(state), None),
                Consequence::Violation(violation) => (None, Some(violation)),
                Consequence::Exhausted(_) => (None, None),
            };
            let step = PossibleStep { action, arguments: &arguments, before: before.as_ref(), after: after.as_ref() };
            let Some(position) = advance(position, &step) else { continue };
            let Some(state) = after else {
                // A step that fails ends a run, and the run may end here.
                if position == end && violation.is_some() {
                    let steps = parent.map(|parent| steps_to(&reached, parent)).unwrap_or_default();
                    return Ok(Followed { steps, violation });
                }
                continue;
            };
            if !seen.insert((position, state.clone())) {
                continue;
            }
            reached.push(Reached { parent, step: TraceStep { action, arguments, state }, position });
            let last = reached.len() - 1;
            if position == end {
                return Ok(Followed { steps: steps_to(&reached, last), violation: None });
            }
            open.push((position, Reverse(last)));
        }
        if reached.len() > MOST_STATES {
            gave_up = true;
            break;
        }
        let Some((_, Reverse(furthest))) = open.pop() else { break };
        parent = Some(furthest);
    }
    let furthest = (0..reached.len()).rev().max_by_key(|&at| reached[at].position);
    Err(match furthest {
        Some(at) => Lost { position: reached[at].position, steps: steps_to(&reached, at), gave_up },
        None => Lost { position: 0, steps: Vec::new(), gave_up },
    })
}

fn steps_to(reached: &[Reached], last: usize) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    let mut at = Some(last);
    while let Some(position) = at {
        steps.push(reached[position].step.clone());
        at = reached[position].parent;
    }
    steps.reverse();
    steps
}
