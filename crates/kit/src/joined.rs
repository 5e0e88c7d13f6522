//! Operands joined by an operator that is associative.

use quotient_ir::ExprId;

/// Joins neighbours until one is left, if there are any: a chain would be nested as deeply as it is long. They are evaluated
/// from first to last, as in a chain.
pub fn joined(mut parts: Vec<ExprId>, mut join: impl FnMut(ExprId, ExprId) -> ExprId) -> Option<ExprId> {
    while parts.len() > 1 {
        let pairs = parts.chunks(2).map(|pair| match *pair {
            [left, right] => join(left, right),
            _ => pair[0],
        });
        parts = pairs.collect();
    }
    parts.pop()
}
