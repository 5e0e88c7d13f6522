//! Single steps for simulation: the enabled instances in a state, on the reference interpreter. Nothing is stored. All
//! enumerations are lazy, since an array parameter may have astronomically many values.

use quotient_ir::{Action, Interpreter, Outcome, PropertyKind, Valuation, Violation};

/// An instance that can be fired, and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The start or rule.
    pub action: Action,
    /// The cells of its parameters.
    pub arguments: Vec<i64>,
    /// Its outcome. A run-time error in the guard counts as an outcome.
    pub outcome: Outcome,
}

/// Every instance of every start, in order.
pub fn starts<'m>(interpreter: &'m Interpreter<'m>) -> impl Iterator<Item = Choice> + use<'m> {
    interpreter.model().starts.iter_enumerated().flat_map(move |(id, start)| {
        interpreter.instances(&start.parameters, &start.locals).map(move |arguments| {
            let outcome = interpreter.run_start(id, &arguments);
            Choice { action: Action::Start(id), arguments, outcome }
        })
    })
}

/// Every enabled instance of every rule in a state, in order.
pub fn successors<'m>(
    interpreter: &'m Interpreter<'m>,
    state: &'m Valuation,
) -> impl Iterator<Item = Choice> + use<'m> {
    interpreter.model().rules.iter_enumerated().flat_map(move |(id, rule)| {
        interpreter.instances(&rule.parameters, &rule.locals).filter_map(move |arguments| {
            let outcome = match interpreter.enabled(id, &arguments, state) {
                Ok(false) => return None,
                Ok(true) => interpreter.fire(id, &arguments, state),
                Err(fault) => Outcome::Fault(fault),
            };
            Some(Choice { action: Action::Rule(id), arguments, outcome })
        })
    })
}

/// Whether every assumption holds in a state.
///
/// # Errors
/// The assumption whose evaluation fails.
pub fn satisfies_assumptions(interpreter: &Interpreter<'_>, state: &Valuation) -> Result<bool, Violation> {
    Ok(violated(interpreter, PropertyKind::Assumption, state)?.is_none())
}

/// The first invariant that does not hold in a state. Invariants do not apply to transient states.
pub fn violated_invariant(interpreter: &Interpreter<'_>, state: &Valuation) -> Option<Violation> {
    if interpreter.passes(state) {
        return None;
    }
    violated(interpreter, PropertyKind::Invariant, state).unwrap_or_else(Some)
}

/// The first property of a kind that does not hold in a state, or, as an error, one whose evaluation fails.
fn violated(
    interpreter: &Interpreter<'_>,
    kind: PropertyKind,
    state: &Valuation,
) -> Result<Option<Violation>, Violation> {
    for (id, property) in interpreter.model().properties.iter_enumerated() {
        if property.kind != kind {
            continue;
        }
        for arguments in interpreter.instances(&property.parameters, &property.locals) {
            match interpreter.holds(id, &arguments, state) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(Violation::Property { property: id, arguments })),
                Err(fault) => return Err(Violation::PropertyFault { property: id, arguments, fault }),
            }
        }
    }
    Ok(None)
}
