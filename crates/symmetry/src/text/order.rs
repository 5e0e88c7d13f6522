//! Whether the order in which a loop or a quantifier visits values can be noticed.
//!
//! Iterations of a loop commute if no two of them touch the same cell, except in ways that commute: both add to it, both
//! set it to the same value, both put elements into a multiset (`loops`). A quantifier stops at the first value that
//! decides, so its order can be noticed if a condition may go wrong for another value (`failing`). Positions of multisets
//! have no order at all (`positions`).

mod failing;
mod loops;
mod positions;

use quotient_ir::{Expr, ExprId, Model};

use super::shapes::{Scope, Shapes};
use super::strict::never_decides;
pub(super) use failing::Undefined;
pub(super) use positions::{is_position, is_position_only, selects_element};

/// Decides whether orders can be noticed.
pub(super) struct Orders<'a> {
    pub(super) model: &'a Model,
    pub(super) shapes: &'a Shapes,
    pub(super) undefined: &'a Undefined,
    /// Whether it matters which run-time error comes first.
    pub(super) errors: bool,
}

impl Orders<'_> {
    /// Whether the order of a quantifier cannot be noticed.
    pub(super) fn quantifier_commutes(&self, scope: Scope, quantifier: ExprId) -> bool {
        let Expr::Quantified { body, .. } = self.model.pool[quantifier] else { return false };
        let evaluates_all = never_decides(self.model, quantifier) && !self.errors;
        evaluates_all || !self.can_fail(scope, body)
    }
}
