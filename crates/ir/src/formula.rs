//! The formula of a property, apart from the kind of claim: a formula over conditions on states.
//!
//! Code that evaluates, prints or permutes conditions obtains them from a formula ([`Formula::condition`],
//! [`Formula::conditions`]), and need not know the other constructors.

use crate::index::ExprId;

/// The formula of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A condition on a single state, free of side effects.
    Condition(ExprId),
    /// Declared by a cover statement: it is reached when the statement is executed and its condition holds. No state
    /// satisfies it by itself.
    CoverStatement,
}

impl Formula {
    /// The condition, if the formula is just a condition on a single state.
    pub fn condition(&self) -> Option<ExprId> {
        match self {
            Self::Condition(condition) => Some(*condition),
            Self::CoverStatement => None,
        }
    }
    /// All conditions on states in the formula, from left to right.
    pub fn conditions(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.condition().into_iter()
    }
}

impl From<ExprId> for Formula {
    fn from(condition: ExprId) -> Self {
        Self::Condition(condition)
    }
}
