//! Why a claim about every size is refused.

use quotient_ir::Span;

/// Why a claim about every size is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The reason.
    pub reason: String,
    /// The place in the text.
    pub span: Span,
}

impl Obstacle {
    pub(super) fn new(reason: impl Into<String>, span: Span) -> Self {
        Self { reason: reason.into(), span }
    }
}
