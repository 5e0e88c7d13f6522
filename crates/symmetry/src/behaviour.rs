//! A whole model as functions of its state: all events and properties, over the values each slot
//! can ever hold. Values that never occur are left out here, so that they cannot permute (the
//! "redundant value symmetries" of Zhang et al. 2013, section IV-D2).

use std::collections::BTreeSet;

use quotient_ir::{
    Action, Domain, Interpreter, Iteration, Layout, Local, LocalId, Model, Parameter, PropertyId, Span, Table,
    VariableId,
};

use crate::circuit::{CASE_LIMIT, Circuit, NodeId};
use crate::mentions::Mentions;
use crate::possible::{Holds, is_enumerated, possible_values, scalar_types};
use crate::unfold::{Event, Refusal, Unfolder};

/// The functions of a model.
#[derive(Debug)]
pub(crate) struct Behaviour {
    /// All nodes. Slots from `slots` on are inputs.
    pub(crate) circuit: Circuit,
    /// How many of the circuit's slots are slots of the state.
    pub(crate) slots: usize,
    /// The inputs that belong to an action whose parameters are not enumerated.
    pub(crate) inputs: Vec<(Action, std::ops::Range<u32>)>,
    /// Instances of rules and initial-state programs.
    pub(crate) events: Vec<Event>,
    /// Instances of properties.
    pub(crate) claims: Vec<Claim>,
    /// Variables that are treated as fixed, and why.
    pub(crate) fixed: Vec<Fixed>,
}

/// An instance of a property.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) property: PropertyId,
    pub(crate) condition: NodeId,
    pub(crate) fault: NodeId,
}

/// A variable whose slots and values are not permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The variable.
    pub variable: VariableId,
    /// Why.
    pub reason: String,
    /// The text that is responsible.
    pub span: Span,
}

/// Unfolds a model, with the properties of a run.
pub(crate) fn unfold(model: &Model, layout: &Layout, properties: &[PropertyId]) -> Behaviour {
    let interpreter = Interpreter::new(model, layout);
    let mut actions: Vec<(Action, &[Parameter], &Table<LocalId, Local>)> = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        actions.push((Action::Start(start), &entry.parameters, &entry.locals));
    }
    for (rule, entry) in model.rules.iter_enumerated() {
        actions.push((Action::Rule(rule), &entry.parameters, &entry.locals));
    }
    let possible = possible_values(model, layout);
    let mut values: Vec<Vec<Option<i64>>> = possible.iter().map(Holds::values).collect();
    let mut wide: Vec<bool> = possible.iter().map(Holds::is_wide).collect();
    let mut inputs = Vec::new();
    for &(action, parameters, locals) in &actions {
        if !is_enumerated(model, parameters, locals) {
            let first = values.len() as u32;
            for parameter in parameters {
                let mut scalars = Vec::new();
                scalar_types(model, locals[parameter.local].ty, &mut scalars);
                match parameter.range {
                    Iteration::Over(_) => {
                        for ty in scalars {
                            let domain = model.domain(ty);
                            wide.push(is_wide(&domain));
                            values.push(if is_wide(&domain) {
                                vec![Some(domain.least()), Some(domain.greatest())]
                            } else {
                                domain.values().map(Some).collect()
                            });
                        }
                    }
                    Iteration::Steps { .. } => {
                        wide.push(false);
                        values.push(interpreter_values(&interpreter, parameter, locals));
                    }
                }
            }
            inputs.push((action, first..values.len() as u32));
        }
    }
    let mut fixed: Vec<Fixed> = Vec::new();
    let mut fix = |variables: BTreeSet<VariableId>, reason: &Refusal, span: Span| {
        for variable in variables {
            if !fixed.iter().any(|entry| entry.variable == variable) {
                fixed.push(Fixed { variable, reason: reason.to_string(), span });
            }
        }
    };
    let mut unfolder = Unfolder::new(model, layout, values, wide);
    let mut events = Vec::new();
    for &(action, parameters, locals) in &actions {
        let first_input = inputs.iter().find(|(owner, _)| *owner == action).map(|(_, range)| range.start);
        let mut unfold_one = |arguments: &[i64]| unfolder.event(action, arguments, first_input);
        let result: Result<Vec<Event>, Refusal> = if first_input.is_some() {
            unfold_one(&[]).map(|event| vec![event])
        } else {
            interpreter.instances(parameters, locals).map(|arguments| unfold_one(&arguments)).collect()
        };
        match result {
            Ok(found) => events.extend(found.into_iter().filter(|event| event.guard != NodeId::FALSE)),
            Err(refusal) => {
                fix(Mentions::of_action(model, action).into_variables(), &refusal, action_span(model, action))
            }
        }
    }
    let mut claims = Vec::new();
    for &property in properties {
        let entry = &model.properties[property];
        for arguments in interpreter.instances(&entry.parameters, &entry.locals) {
            match unfolder.property(property, &arguments) {
                Ok((condition, fault)) => claims.push(Claim { property, condition, fault }),
                Err(refusal) => {
                    fix(Mentions::of_property(model, property).into_variables(), &refusal, entry.span);
                    break;
                }
            }
        }
    }
    Behaviour { circuit: unfolder.circuit, slots: layout.slots.len(), inputs, events, claims, fixed }
}

/// Whether a slot has too many values to list.
fn is_wide(domain: &Domain) -> bool {
    domain.size() == 0 || domain.size() > CASE_LIMIT as u64
}

fn interpreter_values(
    interpreter: &Interpreter<'_>,
    parameter: &Parameter,
    locals: &Table<LocalId, Local>,
) -> Vec<Option<i64>> {
    interpreter.instances(std::slice::from_ref(parameter), locals).map(|cells| Some(cells[0])).collect()
}

fn action_span(model: &Model, action: Action) -> Span {
    match action {
        Action::Start(start) => model.starts[start].span,
        Action::Rule(rule) => model.rules[rule].span,
    }
}
