//! The explicit engine: stores every reachable state, or one of each orbit, in one process.
//!
//! * [`check`] searches as planned; [`check_system`] any system, such as the one on the reference interpreter;
//!   [`check_adaptive`] models that are only partly symmetric.
//! * `explore` chooses among `memory`, `threads`, `unordered` and `disk`. All of them expand, judge and look up states by
//!   `quotient_states`.
//! * `narrowing` packs states by the values that occur.

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
