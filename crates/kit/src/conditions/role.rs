//! A condition and what it is for.

use quotient_ir::PropertyKind;

/// A condition given separately from the text of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What it is for.
    pub role: Role,
    /// An expression in the language of the model.
    pub expression: String,
}

/// What a condition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// States in which it is false are stored and checked, but not expanded.
    Constraint,
    /// It is claimed to hold in every reachable state.
    Invariant,
    /// It is claimed to hold in some reachable state.
    Reach,
    /// A formula of LTL, claimed to hold on every run.
    Linear,
    /// A formula of CTL*, claimed to hold at the start.
    Branching,
    /// Any expression, evaluated in states.
    Watched,
}

impl Role {
    /// The file name of such a condition in messages.
    pub(super) fn file_name(self) -> &'static str {
        match self {
            Self::Constraint => "--constraint",
            Self::Invariant => "--invariant",
            Self::Reach => "--reach",
            Self::Linear => "--ltl",
            Self::Branching => "--ctl",
            Self::Watched => "expression",
        }
    }
    /// Whether it is a temporal formula and not a condition on single states.
    pub fn is_temporal(self) -> bool {
        matches!(self, Self::Linear | Self::Branching)
    }
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::Invariant => "invariant",
            Self::Reach => "condition to reach",
            Self::Linear | Self::Branching => "formula",
            Self::Watched => "expression",
        }
    }
    /// The kind of the property, if its role decides.
    pub(super) fn kind(self) -> Option<PropertyKind> {
        match self {
            Self::Constraint => Some(PropertyKind::Constraint),
            Self::Invariant => Some(PropertyKind::Invariant),
            Self::Reach => Some(PropertyKind::Cover),
            Self::Linear | Self::Branching | Self::Watched => None,
        }
    }
    /// The code of messages about a condition itself.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::Invariant => "invariant",
            Self::Reach => "reach",
            Self::Linear => "ltl",
            Self::Branching => "ctl",
            Self::Watched => "expression",
        }
    }
}
