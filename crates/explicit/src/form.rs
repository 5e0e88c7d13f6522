//! How a search stores states.

use quotient_search::{Checks, Identity, SearchOptions, SearchSpace, StoreMode};
use quotient_states::store::Entries;

/// How a search stores states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) entries: Entries,
    /// The number of bytes at which the store becomes dense, if it does.
    pub(crate) dense_at: Option<u64>,
}

impl Form {
    /// The form for a search.
    pub(crate) fn of<S: SearchSpace>(system: &S, checks: &Checks, options: &SearchOptions, graph: bool) -> Self {
        let (identity, judges) = (system.identity(), !checks.liveness.is_empty());
        // State numbers are needed for drawing the graph, for liveness, if states are not compared by their words, and
        // for partial order, where they tell the level of a state.
        let numbered = graph
            || judges
            || system.facts().last_word() == u64::MAX
            || identity != Identity::Words
            || options.partial_order.is_some();
        let entries = match options.store {
            StoreMode::Exact | StoreMode::Dense if numbered => Entries::Numbers,
            StoreMode::Exact | StoreMode::Dense => Entries::States,
            StoreMode::Compact => Entries::Hashes,
            StoreMode::Bitstate { bytes } => Entries::Bits(bytes),
        };
        Self { entries, dense_at: options.dense_at(identity, graph, judges) }
    }
}
