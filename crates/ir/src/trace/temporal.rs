//! Whether a run violates a temporal property: the formula is evaluated on the word of the run, without automata.

use quotient_temporal::Lasso;

use super::behaviour::check_behaviour;
use super::{Trace, run};
use crate::formula::{Formula, Positions, Temporal, TemporalClaim};
use crate::index::PropertyId;
use crate::interpreter::Interpreter;
use crate::layout::Valuation;
use crate::model::Action;

/// Checks that an infinite run violates an instance of a temporal property. A run without a cycle must end in a state
/// in which nothing can happen, and stays there. For a claim about the tree of runs, the run only illustrates it.
///
/// # Errors
/// Why it does not violate it.
pub(super) fn check_temporal(
    interpreter: &Interpreter<'_>,
    trace: &Trace,
    property: PropertyId,
    arguments: &[i64],
) -> Result<(), String> {
    let entry = interpreter.model().properties.get(property);
    let Some((entry, Formula::Temporal(temporal))) = entry.map(|entry| (entry, &entry.formula)) else {
        return Err("the property is not temporal".into());
    };
    if !interpreter.is_instance(&entry.parameters, arguments) {
        return Err("the arguments are not those of an instance".into());
    }
    if let TemporalClaim::Branching { .. } = temporal.claim {
        return Ok(());
    }
    if let TemporalClaim::Behaviour(behaviour) = &temporal.claim {
        return check_behaviour(interpreter, trace, property, behaviour);
    }
    let word = word_of(interpreter, trace, property, temporal, arguments)?;
    match &temporal.claim {
        TemporalClaim::Linear { pool, formula } if word.satisfies(pool, *formula) => {
            Err("the formula holds on the run".into())
        }
        TemporalClaim::Never(automaton) if !automaton.accepts(&word) => {
            Err("the automaton does not accept the run".into())
        }
        _ => Ok(()),
    }
}

/// The true atoms at each position of an infinite run.
fn word_of(
    interpreter: &Interpreter<'_>,
    trace: &Trace,
    property: PropertyId,
    temporal: &Temporal,
    arguments: &[i64],
) -> Result<Lasso, String> {
    let letters = |steps: &[super::TraceStep]| -> Vec<u64> {
        let counts = |state: &Valuation| temporal.positions == Positions::All || !interpreter.passes(state);
        let states = steps.iter().map(|step| &step.state).filter(|state| counts(state));
        states.map(|state| interpreter.letter(property, arguments, state)).collect()
    };
    let Some(last) = trace.steps.last() else { return Err("the run has no state".into()) };
    match trace.cycle {
        Some(begin) => {
            let (prefix, cycle) = trace.steps.split_at(begin + 1);
            let (prefix, cycle) = (letters(prefix), letters(cycle));
            if cycle.is_empty() { Err("the cycle has no position".into()) } else { Ok(Lasso { prefix, cycle }) }
        }
        None => {
            for (rule, entry) in interpreter.model().rules.iter_enumerated() {
                for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
                    match run(interpreter, Action::Rule(rule), &arguments, Some(&last.state)) {
                        Ok(None) => {}
                        Ok(Some(next)) if !interpreter.is_assumed(&next) => {}
                        _ => return Err("the run has no cycle and can go on".into()),
                    }
                }
            }
            let mut prefix = letters(&trace.steps);
            let Some(letter) = prefix.pop() else { return Err("the run has no position".into()) };
            Ok(Lasso { prefix, cycle: vec![letter] })
        }
    }
}
