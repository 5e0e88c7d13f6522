//! What a property says, apart from the kind of claim it makes with it: a formula over conditions on
//! states.
//!
//! Code that evaluates, prints or permutes conditions asks a formula for them ([`Formula::condition`],
//! [`Formula::conditions`]), and need not know what else a formula can be made of.

use crate::index::ExprId;

/// The formula of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A condition on a single state, free of side effects.
    Condition(ExprId),
    /// What a cover statement declares: it is reached where the statement is executed and the condition of the
    /// statement holds. No state satisfies it by itself.
    CoverStatement,
}

impl Formula {
    /// The condition, if the formula is nothing but a condition on a single state.
    pub fn condition(&self) -> Option<ExprId> {
        match self {
            Self::Condition(condition) => Some(*condition),
            Self::CoverStatement => None,
        }
    }
    /// All conditions on states that the formula is made of, from left to right.
    pub fn conditions(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.condition().into_iter()
    }
}

impl From<ExprId> for Formula {
    fn from(condition: ExprId) -> Self {
        Self::Condition(condition)
    }
}
