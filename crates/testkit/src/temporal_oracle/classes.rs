//! The fairness classes of steps, by the definitions.

use quotient_ir::{EventLabel, Expr, Fairness, Interpreter, Model, Owner, RuleId, TableIndex, Valuation};

use super::Guarantee;

/// What is treated fairly on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Processes; instances of rules if there are no processes.
    Usual,
    /// Events; instances of rules if there are no events.
    Events,
    /// Processes.
    Processes,
}

/// The classes of a step from a state, by their names.
pub(super) fn step_classes(
    interpreter: &Interpreter<'_>,
    scope: Scope,
    (rule, arguments): (RuleId, &[i64]),
    state: &Valuation,
) -> Vec<(String, Guarantee)> {
    let model = interpreter.model();
    let mut classes = Vec::new();
    let of_process = Guarantee { declared: Fairness::None, on_request: scope != Scope::Events };
    if let Some(it) = model.participation.get(rule.position()) {
        classes.extend(it.processes.iter().map(|process| (format!("process {process}"), of_process)));
        if let Some(event) = interpreter.event_of(rule, arguments, state) {
            let declared = declared(interpreter, &it.event, &event, state);
            classes.push((format!("event {event}"), Guarantee { declared, on_request: scope == Scope::Events }));
        }
        return classes;
    }
    let has_owners = model.rules.iter().any(|rule| rule.owner != Owner::None);
    classes.extend(model.owner_of(rule, arguments).map(|process| (format!("process {process}"), of_process)));
    let on_request = scope == Scope::Events || scope == Scope::Usual && !has_owners;
    let declared = model.rules[rule].fairness;
    classes.push((format!("instance {} {arguments:?}", rule.position()), Guarantee { declared, on_request }));
    classes
}

/// What annotations guarantee to an event: its own, and those of events with its name and other values than constants.
fn declared(interpreter: &Interpreter<'_>, label: &EventLabel, event: &str, state: &Valuation) -> Fairness {
    let model = interpreter.model();
    let EventLabel::Event { name, values } = label else { return Fairness::None };
    let is_meant = |rule: RuleId| match &model.participation[rule.position()].event {
        EventLabel::Event { name: other, values: others } if is_constant(model, others) => {
            other.len() <= event.len() && interpreter.event_of(rule, &[], state).as_deref() == Some(event)
        }
        EventLabel::Event { name: other, values: others } => other == name && others.len() == values.len(),
        _ => false,
    };
    let annotated = model.rules.iter_enumerated().filter(|(_, rule)| rule.fairness != Fairness::None);
    annotated.filter(|(id, _)| is_meant(*id)).map(|(_, rule)| rule.fairness).max().unwrap_or_default()
}

fn is_constant(model: &Model, values: &[quotient_ir::ExprId]) -> bool {
    values.iter().all(|value| matches!(model.pool[*value], Expr::Constant { .. }))
}
