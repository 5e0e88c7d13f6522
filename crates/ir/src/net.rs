//! A model described as a net, beside its rules: whose cells hold how many tokens, which instance of a rule is which change
//! of a vector net, and which properties ask whether some numbers of tokens can be reached or exceeded. A front end only
//! describes; what follows from it is shown by an engine.

use quotient_covering::{Goal, VectorNet};

use crate::index::{PropertyId, RuleId, VariableId};

/// A description of a model as a net.
#[derive(Clone, Debug)]
pub struct Net {
    /// The net of all cells. Unlike the model, it has no bounds, also where those of the model are only assumed
    /// ([`StatementKind::Require`](crate::StatementKind::Require)).
    pub vectors: VectorNet,
    /// The variables whose scalars are the cells, one variable after the other, in the order of the layout.
    pub places: Vec<VariableId>,
    /// The rule and the arguments that each change is. None if there is no such rule, since the change can never happen.
    pub firings: Vec<Option<(RuleId, Vec<i64>)>>,
    /// What no reachable marking satisfies if an invariant holds, or if a cover property is not reached.
    pub goals: Vec<(PropertyId, Goal)>,
    /// Markings that are said to cover all reachable ones. This is a hint, which nobody believes.
    pub claimed: Vec<Vec<i64>>,
}
