//! The formula of a property, apart from the kind of claim: a formula over conditions on states.
//!
//! Code that evaluates, prints or permutes conditions obtains them from a formula ([`Formula::condition`],
//! [`Formula::conditions`]), and need not know the other constructors.

use quotient_temporal::branching::is_ctl;
use quotient_temporal::{Automaton, Formulas};

use crate::behaviour::{Behaviour, EventLabel};
use crate::index::ExprId;

/// The formula of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// A condition on a single state, free of side effects.
    Condition(ExprId),
    /// Declared by a cover statement: it is reached when the statement is executed and its condition holds. No state
    /// satisfies it by itself.
    CoverStatement,
    /// A temporal formula over conditions.
    Temporal(Box<Temporal>),
}

/// A claim about the infinite runs of a model, or about its tree of runs. A run that cannot be continued stays in its
/// last state forever. A run that ends in a run-time error is not an infinite run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporal {
    /// The claim. Its atom `n` is the condition `n` below.
    pub claim: TemporalClaim,
    /// The conditions. They may mention the parameters of the property: the claim is made for each valuation.
    pub atoms: Vec<ExprId>,
    /// The text of each condition, for reports.
    pub names: Vec<String>,
    /// The text of the formula, for reports.
    pub text: String,
    /// The states that a run consists of.
    pub positions: Positions,
}

/// The states that a run consists of, as far as a temporal formula is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Positions {
    /// All except transient ones.
    #[default]
    Stored,
    /// All, even transient ones.
    All,
}

/// What a temporal property claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemporalClaim {
    /// A formula of LTL holds on every run.
    Linear {
        /// The pool of the formula.
        pool: Formulas,
        /// The formula, without path quantifiers.
        formula: quotient_temporal::Formula,
    },
    /// A state formula of CTL* holds in every start state.
    Branching {
        /// The pool of the formula.
        pool: Formulas,
        /// The formula: every temporal operator is inside a path quantifier.
        formula: quotient_temporal::Formula,
    },
    /// No run is accepted by an automaton.
    Never(Automaton),
    /// A claim about the events of a process.
    Behaviour(Box<Behaviour>),
}

impl Temporal {
    /// Whether the claim is a formula of CTL: each path quantifier governs one temporal operator.
    pub fn is_ctl(&self) -> bool {
        match &self.claim {
            TemporalClaim::Branching { pool, formula } => is_ctl(&mut pool.clone(), *formula),
            TemporalClaim::Linear { .. } | TemporalClaim::Never(_) | TemporalClaim::Behaviour(_) => false,
        }
    }
}

impl Formula {
    /// The condition, if the formula is just a condition on a single state.
    pub fn condition(&self) -> Option<ExprId> {
        match self {
            Self::Condition(condition) => Some(*condition),
            Self::CoverStatement | Self::Temporal(_) => None,
        }
    }
    /// The temporal formula, if it is one.
    pub fn temporal(&self) -> Option<&Temporal> {
        match self {
            Self::Temporal(temporal) => Some(temporal),
            Self::Condition(_) | Self::CoverStatement => None,
        }
    }
    /// All values of events that the formula is about.
    pub fn event_values(&self) -> impl Iterator<Item = ExprId> + '_ {
        let labels = match self.temporal().map(|temporal| &temporal.claim) {
            Some(TemporalClaim::Behaviour(behaviour)) => &behaviour.labels[..],
            _ => &[],
        };
        let values = |label: &EventLabel| match label {
            EventLabel::Event { values, .. } => values.clone(),
            EventLabel::Nothing | EventLabel::Internal => Vec::new(),
        };
        labels.iter().flat_map(values)
    }
    /// All conditions on states in the formula, from left to right.
    pub fn conditions(&self) -> impl Iterator<Item = ExprId> + '_ {
        let atoms = self.temporal().map_or(&[][..], |temporal| &temporal.atoms);
        self.condition().into_iter().chain(atoms.iter().copied())
    }
}

impl From<ExprId> for Formula {
    fn from(condition: ExprId) -> Self {
        Self::Condition(condition)
    }
}
