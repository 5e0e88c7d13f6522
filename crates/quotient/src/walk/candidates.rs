//! The possible next steps of a run.

use quotient_ir::{
    Action, Fault, FaultKind, Interpreter, Iteration, Model, Outcome, Parameter, StartId, TableIndex, TypeId, TypeKind,
    Valuation, Violation,
};
use quotient_systems::{walk, walk::Choice};

use crate::walk::randomness::Randomness;

/// The maximum number of candidates that are listed or chosen from.
pub const CONSIDERED: usize = 10_000;
/// How often a start is tried with random arguments before giving up.
const ATTEMPTS: usize = 1_000;

/// An instance that can be chosen, and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The start or rule.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// Its outcome.
    pub consequence: Consequence,
}

/// The outcome of choosing a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// The run continues in this state.
    State(Valuation),
    /// A run-time error.
    Violation(Violation),
    /// The step does not terminate within its limit.
    Exhausted(Fault),
}

/// All candidates, up to [`CONSIDERED`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// The candidates in order.
    pub list: Vec<Candidate>,
    /// Whether there may be more.
    pub is_cut: bool,
}

/// The possible starts of a run.
pub fn starts(interpreter: &Interpreter<'_>) -> Candidates {
    collect(interpreter, walk::starts(interpreter))
}

/// The possible steps in a state.
pub fn successors(interpreter: &Interpreter<'_>, state: &Valuation) -> Candidates {
    collect(interpreter, walk::successors(interpreter, state))
}

/// The outcome of an instance in a state (none for a start); nothing if it cannot fire there or an assumption drops it.
pub(crate) fn candidate_of(
    interpreter: &Interpreter<'_>,
    action: Action,
    arguments: &[i64],
    before: Option<&Valuation>,
) -> Option<Candidate> {
    let outcome = match (action, before) {
        (Action::Start(start), None) => interpreter.run_start(start, arguments),
        (Action::Rule(rule), Some(state)) => match interpreter.enabled(rule, arguments, state) {
            Ok(true) => interpreter.fire(rule, arguments, state),
            Ok(false) => return None,
            Err(fault) => Outcome::Fault(fault),
        },
        (Action::Start(_), Some(_)) | (Action::Rule(_), None) => return None,
    };
    candidate(interpreter, Choice { action, arguments: arguments.to_vec(), outcome })
}

fn collect(interpreter: &Interpreter<'_>, choices: impl Iterator<Item = Choice>) -> Candidates {
    let mut choices = choices.take(CONSIDERED + 1);
    let list: Vec<Candidate> =
        choices.by_ref().take(CONSIDERED).filter_map(|choice| candidate(interpreter, choice)).collect();
    Candidates { list, is_cut: choices.next().is_some() }
}

/// A choice as a candidate; none if an assumption drops it.
fn candidate(interpreter: &Interpreter<'_>, choice: Choice) -> Option<Candidate> {
    let Choice { action, arguments, outcome } = choice;
    let consequence = match outcome {
        Outcome::Pruned => return None,
        Outcome::Next { state, .. } => match walk::satisfies_assumptions(interpreter, &state) {
            Ok(true) => Consequence::State(state),
            Ok(false) => return None,
            Err(Violation::PropertyFault { fault, .. }) if fault.kind == FaultKind::Exhausted => {
                Consequence::Exhausted(fault)
            }
            Err(violation) => Consequence::Violation(violation),
        },
        Outcome::Fault(fault) if fault.kind == FaultKind::Exhausted => Consequence::Exhausted(fault),
        Outcome::Fault(fault) => {
            let arguments = arguments.clone();
            Consequence::Violation(Violation::Fault { action, arguments, fault })
        }
    };
    Some(Candidate { action, arguments, consequence })
}

/// A random start. If there are too many instances to count, arguments are drawn cell by cell instead, so that every
/// instance can be chosen.
pub fn random_start(interpreter: &Interpreter<'_>, randomness: &mut Randomness) -> Option<Candidate> {
    let mut candidates = starts(interpreter);
    if !candidates.is_cut {
        return take_random(&mut candidates, randomness);
    }
    let model = interpreter.model();
    for _ in 0..ATTEMPTS {
        let id = StartId::from_position(randomness.position(model.starts.len()));
        let mut arguments = Vec::new();
        for parameter in &model.starts[id].parameters {
            draw_argument(interpreter, id, parameter, randomness, &mut arguments);
        }
        let outcome = interpreter.run_start(id, &arguments);
        let choice = Choice { action: Action::Start(id), arguments, outcome };
        if let Some(candidate) = candidate(interpreter, choice) {
            return Some(candidate);
        }
    }
    take_random(&mut candidates, randomness)
}

/// Takes one of the candidates out.
pub fn take_random(candidates: &mut Candidates, randomness: &mut Randomness) -> Option<Candidate> {
    let length = candidates.list.len();
    (length > 0).then(|| candidates.list.swap_remove(randomness.position(length)))
}

fn draw_argument(
    interpreter: &Interpreter<'_>,
    start: StartId,
    parameter: &Parameter,
    randomness: &mut Randomness,
    arguments: &mut Vec<i64>,
) {
    match parameter.range {
        Iteration::Over(ty) => draw_value(interpreter.model(), ty, randomness, arguments),
        Iteration::Steps { .. } => {
            let locals = &interpreter.model().starts[start].locals;
            let values = || interpreter.instances(std::slice::from_ref(parameter), locals).take(CONSIDERED);
            let count = values().count();
            if count > 0 {
                arguments.extend(values().nth(randomness.position(count)).into_iter().flatten());
            }
        }
    }
}

fn draw_value(model: &Model, ty: TypeId, randomness: &mut Randomness, cells: &mut Vec<i64>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for _ in model.domain(*index).values() {
                draw_value(model, *element, randomness, cells);
            }
        }
        TypeKind::Record { fields } => {
            for field in fields {
                draw_value(model, field.ty, randomness, cells);
            }
        }
        // Front ends allow no parameter that contains a multiset.
        TypeKind::Multiset { .. } => {}
        _ => {
            let domain = model.domain(ty);
            cells.push(domain.value_of(randomness.below(domain.size())));
        }
    }
}
