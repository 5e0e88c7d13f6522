//! What a front end may leave out of a model. This follows from what is asked of the model and is decided here alone, so
//! that every way in searches the same model for the same question.

use crate::languages::{LabelChecks, Language};
use crate::names::{DEADLOCK, ERRORS};
use crate::options::Options;

/// The properties that are the labels of a Promela model, by the names under which they are selected.
const ACCEPTANCE: &str = "acceptance";
const PROGRESS: &str = "progress";

/// What a front end leaves out of a model because the request cannot notice it. A model may be lowered for one request and
/// used for another: `Plan::new`, `explore` and `detect` lower its
/// text again where they need another lowering, and return the model they used. Loading it for the request at once only
/// saves that work. By default nothing is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lowering {
    /// Leaves out orders of steps of a Promela model that nothing distinguishes: the process that creates the others does
    /// so before any of them moves, and steps that concern only one process are done at once. There are fewer states, and
    /// they have more symmetries; which of several violations is found first may differ.
    pub(crate) merges_orders: bool,
    /// Leaves out the formulas and labels of a Promela model: only deadlocks and errors are checked.
    pub(crate) states_only: bool,
    /// Leaves out the `never` claims of a Promela model. Otherwise they are tracked and checked, and their positions are
    /// part of the state.
    pub(crate) ignores_claims: bool,
    /// Which labels of a Promela model are checked.
    pub(crate) labels: LabelChecks,
}

impl Lowering {
    /// For a check.
    pub fn for_check(options: &Options) -> Self {
        let is_about_states = |name: &String| name == DEADLOCK || name == ERRORS;
        Self {
            // Orders are states of the model as written, and each violation can hide others in some orders.
            merges_orders: !options.exact_counts && !options.violations.collects(),
            states_only: !options.properties.is_empty() && options.properties.iter().all(is_about_states),
            ..Self::with_all_steps(options)
        }
    }

    /// For showing the runs and the graph of a model beside a check of it: every step and claim, and the labels that the
    /// check is about.
    pub fn with_all_steps(options: &Options) -> Self {
        let is_selected = |label: &str| options.properties.iter().any(|name| name == label);
        let labels =
            LabelChecks { acceptance: is_selected(ACCEPTANCE).then_some(true), progress: is_selected(PROGRESS) };
        Self { labels, ..Self::default() }
    }

    /// For the state space, without claims.
    pub fn for_exploration() -> Self {
        Self { ignores_claims: true, ..Self::default() }
    }

    /// For its symmetries.
    pub fn for_detection() -> Self {
        Self { merges_orders: true, ignores_claims: true, ..Self::default() }
    }

    /// What of it a front end does. Conditions beside the text may read the processes, so that orders matter.
    pub(crate) fn applied(self, language: Language, has_conditions: bool) -> Self {
        match language {
            Language::Promela => Self {
                merges_orders: self.merges_orders && !has_conditions,
                states_only: self.states_only && !has_conditions,
                ..self
            },
            Language::Murphi | Language::B | Language::Dve | Language::Csp | Language::Pnml => Self::default(),
        }
    }
}
