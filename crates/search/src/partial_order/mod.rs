//! Partial-order reduction of a search space: where steps do not depend on each other, one order is enough.
//!
//! * `relations` says what instances do to each other; it is computed elsewhere;
//! * `conditions` evaluates guards on packed states, `stubborn` chooses the steps of a state;
//! * `local` passes through states in which a step can be taken that nothing else depends on;
//! * `system` wraps a search space, reduced by symmetry or not.
//!
//! More states are passed through where `local` cuts ways and `relations` says what is local
//! ([why](../../../docs/adr/0031-local-steps-are-passed-through.md)).
//!
//! What is preserved, and why: ADR 23. Deadlocks need nothing else. For conditions on states, errors and cover
//! statements, a part of the steps suffices only if some successor is expanded later than the state
//! ([`crate::Share`]): otherwise the search takes the rest as well. For temporal formulas, see ADR 32.

pub mod conditions;
mod local;
pub mod relations;
mod stubborn;
mod system;

pub use relations::Relations;
pub use system::{Decided, Extent, PartialOrderSystem};
