//! What parts of a model cost, estimated from its representation.

use std::collections::{HashMap, HashSet};

use quotient_ir::{Expr, ExprId, Iteration, Model, Parameter, PropertyId, PropertyKind, TypeId};
use quotient_systems::SPECIALISED_INSTANCES;

/// Of the nodes in quantifiers of guards, one in this many is evaluated: most guards are decided before.
const NODES_PER_EVALUATED: u64 = 4;
/// How many times as long the instance of a rule takes that has too many for code of their own.
const GENERAL_INSTANCE: u64 = 64;

/// The nodes that are evaluated in every state, beside what a step usually takes: those of what can always be reached,
/// and those of quantifiers in guards, as far as they are evaluated.
pub(crate) fn nodes_in_each_state(model: &Model, properties: &[PropertyId]) -> u64 {
    let known = &mut HashMap::default();
    let mut nodes: u64 = 0;
    for rule in model.rules.iter() {
        let quantifiers = outermost_quantifiers(model, rule.guard);
        let guard = quantifiers.into_iter().map(|it| nodes_of(model, it, known)).fold(0, u64::saturating_add);
        nodes = nodes.saturating_add(guard.saturating_mul(instances(model, &rule.parameters)) / NODES_PER_EVALUATED);
    }
    let properties = properties.iter().map(|&id| &model.properties[id]);
    for property in properties.filter(|property| property.kind == PropertyKind::AlwaysReachable) {
        let condition = property.formula.condition().map_or(0, |condition| nodes_of(model, condition, known));
        nodes = nodes.saturating_add(condition.saturating_mul(instances(model, &property.parameters)));
    }
    nodes
}

/// The instances of rules that are tried in each state. One of a rule that has too many for code of their own counts as
/// many.
pub(crate) fn instances_in_each_state(model: &Model) -> u64 {
    let of_rule = |instances: u64| match instances > SPECIALISED_INSTANCES as u64 {
        true => instances.saturating_mul(GENERAL_INSTANCE),
        false => instances,
    };
    model.rules.iter().map(|rule| of_rule(instances(model, &rule.parameters))).fold(0, u64::saturating_add)
}

/// The number of ways to choose parameters.
fn instances(model: &Model, parameters: &[Parameter]) -> u64 {
    let sizes = parameters.iter().map(|parameter| match parameter.range {
        Iteration::Over(ty) => values_of(model, ty),
        Iteration::Steps { .. } => 1,
    });
    sizes.fold(1, u64::saturating_mul)
}

/// The number of values of a type; of one that is not scalar, as if each cell had two: most are sets.
fn values_of(model: &Model, ty: TypeId) -> u64 {
    if model.is_scalar(ty) { model.domain(ty).size() } else { 1 << model.cells(ty).min(63) }
}

/// The outermost quantifiers of a condition.
fn outermost_quantifiers(model: &Model, condition: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let (mut pending, mut seen) = (vec![condition], HashSet::from([condition]));
    while let Some(expression) = pending.pop() {
        let parts: &[ExprId] = match &model.pool[expression] {
            Expr::Unary { operand, .. } => &[*operand],
            Expr::Binary { left, right, .. } => &[*left, *right],
            Expr::Conditional { condition, then, otherwise } => &[*condition, *then, *otherwise],
            Expr::Quantified { .. } => {
                found.push(expression);
                continue;
            }
            _ => continue,
        };
        pending.extend(parts.iter().filter(|&&part| seen.insert(part)));
    }
    found
}

/// How many nodes of an expression are evaluated if nothing decides early. What a function does is not counted.
fn nodes_of(model: &Model, expression: ExprId, known: &mut HashMap<ExprId, u64>) -> u64 {
    if let Some(&nodes) = known.get(&expression) {
        return nodes;
    }
    let mut all =
        |parts: &[ExprId]| parts.iter().map(|&part| nodes_of(model, part, known)).fold(1, u64::saturating_add);
    let nodes = match &model.pool[expression] {
        Expr::Unary { operand, .. } | Expr::IsMember { value: operand, .. } => all(&[*operand]),
        Expr::Binary { left, right, .. } => all(&[*left, *right]),
        Expr::Conditional { condition, then, otherwise } => all(&[*condition, *then, *otherwise]),
        Expr::Quantified { range: Iteration::Over(ty), body, .. } => {
            values_of(model, *ty).saturating_mul(all(&[*body]))
        }
        Expr::Quantified { body, .. } | Expr::Count { body, .. } => all(&[*body]),
        _ => 1,
    };
    known.insert(expression, nodes);
    nodes
}
