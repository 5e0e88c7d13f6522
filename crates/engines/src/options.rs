//! What to search, how, and how far.

use quotient_ir::{DeadlockMode, PropertyId};

/// How to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// Which state to expand next.
    pub order: SearchOrder,
    /// What counts as a deadlock. [`DeadlockMode::Off`] if it is not to be checked.
    pub deadlock: DeadlockMode,
    /// The greatest number of states to store.
    pub max_states: Option<u64>,
    /// The greatest number of steps from a start.
    pub max_depth: Option<u64>,
    /// The greatest number of bytes to use for stored states.
    pub max_memory: Option<u64>,
    /// The properties to check; all if `None`. Assumptions apply in any case.
    pub properties: Option<Vec<PropertyId>>,
    /// Whether a fault of the model is a violation to report. If not, it still ends the search,
    /// since what the model does afterwards has no meaning, and leaves the rest inconclusive.
    pub errors: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            order: SearchOrder::BreadthFirst,
            deadlock: DeadlockMode::Stuttering,
            max_states: None,
            max_depth: None,
            max_memory: None,
            properties: None,
            errors: true,
        }
    }
}

/// Which state to expand next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchOrder {
    /// The one found first: traces are as short as possible.
    #[default]
    BreadthFirst,
    /// The one found last.
    DepthFirst,
}
