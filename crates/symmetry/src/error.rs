//! Why detection gives no group.

use quotient_ir::Spent;

use crate::certify::Rejection;

/// A generator that was found in the graph but is not a symmetry: a defect of this program.
#[derive(Debug, thiserror::Error)]
#[error("a symmetry found in the graph was refused by certification: {rejection} ({generator})")]
pub struct Uncertified {
    /// Why it was refused.
    pub rejection: Rejection,
    /// The generator, in source terms.
    pub generator: String,
}

/// Why there is no group.
#[derive(Debug, thiserror::Error)]
pub enum DetectionError {
    /// A generator was refused: a defect of this program, never ignored.
    #[error(transparent)]
    Uncertified(#[from] Box<Uncertified>),
    /// The budget was spent. Nothing is known about the symmetries of the model.
    #[error(transparent)]
    GaveUp(#[from] Spent),
}

impl DetectionError {
    /// The error for a refused generator that should have been certified.
    pub(crate) fn of_refusal(rejection: Rejection, generator: impl FnOnce() -> String) -> Self {
        match rejection {
            Rejection::GaveUp(spent) => Self::GaveUp(spent),
            rejection => Box::new(Uncertified { rejection, generator: generator() }).into(),
        }
    }

    /// The error for a refused candidate, if any: refusal itself is permitted, but a defect or a spent budget is an
    /// error.
    pub(crate) fn of_candidate(rejection: Rejection, generator: impl FnOnce() -> String) -> Result<Rejection, Self> {
        match rejection {
            Rejection::GaveUp(_) => Err(Self::of_refusal(rejection, generator)),
            rejection if rejection.is_contradiction() => Err(Self::of_refusal(rejection, generator)),
            rejection => Ok(rejection),
        }
    }
}
