//! Partial-order reduction: where steps do not depend on each other, one order is enough.
//!
//! * `deciding` finds out what a step does to a condition, and whether two steps commute: on `effects`, which are a
//!   compact form of what is written, or else on the functions themselves, by `composition`;
//! * `relations` computes once for a model what instances do to each other, `stretches` which of them fire on the way
//!   through transient states;
//! * `conditions` evaluates guards on packed states, `stubborn` chooses the steps of a state;
//! * `local` passes through states in which a step can be taken that nothing else depends on;
//! * `system` wraps a search space, reduced by symmetry or not;
//! * `decisions` has what was decided for each state, where temporal formulas are checked.
//!
//! What is preserved, and why: ADR 23. Deadlocks need nothing else. For conditions on states, errors and cover
//! statements, a part of the steps suffices only if some successor is expanded later than the state
//! ([`crate::seam::Share`]): otherwise the search takes the rest as well. For temporal formulas, see ADR 32.

mod beginnings;
mod composition;
mod conditions;
mod deciding;
mod decisions;
mod effects;
mod independence;
mod local;
mod meeting;
mod relations;
mod stable;
mod stretches;
mod stubborn;
mod system;

pub(crate) use decisions::{Decisions, Extent};
pub use relations::{Obstacle, Relations};
pub(crate) use system::PartialOrderSystem;
