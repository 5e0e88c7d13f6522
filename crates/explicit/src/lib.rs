//! The explicit engine: stores every reachable state, or one of each orbit, in one process. Knows no other engine.
//!
//! * [`check`] searches as planned; [`check_system`] any system, such as the one on the reference interpreter;
//!   [`check_adaptive`] models that are only partly symmetric
//!   ([rationale](../../../docs/adr/0011-adaptive-reduction.md)).
//! * `explore` chooses among `memory`, `threads`, `unordered` and `disk`. All of them expand, judge and look up states
//!   by `quotient_states`. The order is that of rumur, so counts can be compared: on disk, and on several threads for
//!   the first states or on request ([both](../../../docs/adr/0012-threads-and-disk.md)). Beyond these, threads share
//!   one table and find the states of a level [in any order](../../../docs/adr/0043-any-order-within-a-level.md).
//! * `narrowing` packs large states by the values that occur
//!   ([how](../../../docs/adr/0014-states-packed-by-what-occurs.md)); `form` says how a search stores states,
//!   `barrier` is for its threads.

mod adaptive;
mod barrier;
mod check;
mod disk;
mod door;
mod explore;
mod form;
mod memory;
mod narrowing;
mod threads;
mod unordered;

pub use adaptive::{
    AdaptiveError, AdaptiveReport, GuardedEdge, GuardedQuotient, PartitionTime, check_adaptive, guarded_quotient,
};
pub use check::{check, check_system};
pub use door::Explicit;
pub use narrowing::layout_for;
