//! The invariants of a description as a net: that what it names exists. Whether it describes the model is another question.

use quotient_covering::Goal;

use crate::index::TypeId;
use crate::model::{Model, PropertyKind};
use crate::net::Net;
use crate::types::TypeKind;

/// Checks the description of a model whose types are valid, if there is one.
pub(super) fn check(model: &Model, problems: &mut Vec<String>) {
    let Some(net) = &model.net else { return };
    let Net { vectors, places, firings, goals, claimed } = &**net;
    let width = vectors.initial.len();
    let cells = places.iter().map(|&place| model.variables.get(place).and_then(|it| cells(model, it.ty)));
    if cells.sum::<Option<usize>>() != Some(width) {
        problems.push("a net has other cells than its places".into());
    }
    let is_arc = |&(cell, tokens): &(usize, i64)| cell < width && tokens > 0;
    if vectors.initial.iter().any(|&tokens| tokens < 0)
        || !vectors.changes.iter().flat_map(|change| change.takes.iter().chain(&change.adds)).all(is_arc)
    {
        problems.push("a net has numbers of tokens that cannot be, or of cells that are not there".into());
    }
    if firings.len() != vectors.changes.len() {
        problems.push("a net has other changes than firings".into());
    }
    for (rule, arguments) in firings.iter().flatten() {
        if model.rules.get(*rule).is_none_or(|rule| rule.parameters.len() != arguments.len()) {
            problems.push(format!("a change of a net is an instance of {rule:?} that is not there"));
        }
    }
    for (property, goal) in goals {
        let kind = model.properties.get(*property).map(|property| property.kind);
        if !matches!(kind, Some(PropertyKind::Invariant | PropertyKind::Cover)) {
            problems.push("a net has a goal for a property that is not about single states".into());
        }
        if !is_goal(goal, width) {
            problems
                .push(format!("the goal of {property:?} is not one of more tokens, or of cells that are not there"));
        }
    }
    if claimed.iter().any(|marking| marking.len() != width) {
        problems.push("a marking that is claimed of a net has other cells".into());
    }
}

/// The scalars of a place: a number, or an array of such.
fn cells(model: &Model, ty: TypeId) -> Option<usize> {
    let (mut ty, mut cells) = (ty, 1usize);
    while let TypeKind::Array { index, element } = model.types[ty].kind {
        cells = cells.checked_mul(usize::try_from(model.domain(index).size()).ok()?)?;
        ty = element;
    }
    matches!(model.types[ty].kind, TypeKind::Range { .. } | TypeKind::Integer).then_some(cells)
}

/// Whether a goal is about cells that exist, and more tokens never turn it false.
fn is_goal(goal: &Goal, width: usize) -> bool {
    match goal {
        Goal::All(parts) | Goal::Any(parts) => parts.iter().all(|part| is_goal(part, width)),
        Goal::AtLeast { weights, .. } => weights.iter().all(|&(cell, weight)| cell < width && weight > 0),
    }
}
