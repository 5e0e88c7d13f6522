//! Whether the text of a member shows that its objects can be exchanged.

use std::sync::Arc;

use quotient_ir::{Budget, Layout, Model, PropertyId, Span, Spent};
use quotient_symmetry::{Preserved, RoleReport, symmetries_of_text};

use super::family::Objects;
use super::obstacle::Obstacle;

/// A member whose objects can be exchanged.
pub(super) struct Exchangeable {
    /// The model, perhaps with strict quantifiers.
    pub(super) model: Arc<Model>,
    /// Whether conditions about all objects are evaluated for all of them.
    pub(super) is_strict: bool,
}

/// The model, with strict quantifiers if need be, if its text shows that objects can be exchanged so that properties are
/// preserved.
///
/// # Errors
/// If the budget is spent. The obstacles, if the text does not show it.
pub(super) fn exchangeable(
    model: &Arc<Model>,
    layout: &Layout,
    objects: &Objects,
    properties: &[PropertyId],
    budget: &Budget,
) -> Result<Result<Exchangeable, Vec<Obstacle>>, Spent> {
    let preserved = Preserved::Properties(properties);
    let against_whole = |reason: &str| Ok(Err(vec![Obstacle::new(reason, Span::default())]));
    let Some(plain) = symmetries_of_text(model, layout, preserved, budget)? else {
        return against_whole("the text is too large");
    };
    let values: Vec<Vec<i64>> = (0..objects.sorts()).map(|sort| objects.values(model, sort)).collect();
    // Values that are never named and never used as an index need not be permuted unless they occur. If they occur and the
    // start states distinguish them, a loop wrote them, and classification refuses such loops.
    let is_idle = |role: &RoleReport| {
        role.free.is_empty() && role.limits.is_empty() && role.others == 0 && role.indexes.is_empty()
    };
    let is_free = |role: &RoleReport| {
        let among = objects.among(role.ty);
        let of_role = values.iter().enumerate().filter(|(sort, values)| among[*sort] > 0 && values.len() > 1);
        let is_class = |values: &[i64]| role.free.iter().any(|class| values.iter().all(|value| class.contains(value)));
        is_idle(role) || of_role.map(|(_, values)| values).all(|values| is_class(values))
    };
    let bound = |roles: Vec<RoleReport>| -> Vec<RoleReport> {
        roles.into_iter().filter(|role| objects.may_be(role.ty) && !is_free(role)).collect()
    };
    let against = bound(plain.roles(model));
    if against.is_empty() {
        return Ok(Ok(Exchangeable { model: Arc::clone(model), is_strict: false }));
    }
    if let Some((strict, found)) = plain.with_strict_quantifiers(model, layout, preserved, budget)?
        && bound(found.roles(&strict)).is_empty()
    {
        return Ok(Ok(Exchangeable { model: Arc::new(strict), is_strict: true }));
    }
    let limits = against.iter().flat_map(|role| &role.limits);
    let obstacles: Vec<Obstacle> = limits.map(|limit| Obstacle::new(limit.text.clone(), limit.span)).collect();
    match obstacles.is_empty() {
        true => against_whole("the text does not show that objects can be exchanged"),
        false => Ok(Err(obstacles)),
    }
}
