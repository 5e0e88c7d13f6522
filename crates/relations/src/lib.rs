//! What instances of rules do to each other, computed from the functions of a model: when two steps commute, which can
//! enable or disable which. Searches that take a part of the steps read the result
//! ([`Relations`](quotient_search::partial_order::Relations)). Knows no search.
//!
//! * `deciding` finds out what a step does to a condition, and whether two steps commute: on `effects`, which are a
//!   compact form of what is written, or else on the functions themselves, by `composition`.
//! * `builder` computes once for a model what instances do to each other: what has to be seen, and what is refused.
//!   `stretches` says which of them fire on the way through transient states, `stable` which values occur in stored
//!   states, `meeting` which steps can be taken in the same state, `independence` which transient states matter to no
//!   other step, `beginnings` which steps are taken in the first state only.
//!
//! To let more steps commute, see `deciding`, `independence` and `stretches`, and `functions/src/unfold/pointers.rs`
//! for one event for each channel. What is preserved, and why: [ADR
//! 23](../../../docs/adr/0023-stubborn-sets-on-functions.md); for temporal formulas, [ADR
//! 32](../../../docs/adr/0032-partial-order-for-temporal-formulas.md).

mod beginnings;
mod builder;
mod composition;
mod deciding;
mod effects;
mod independence;
mod meeting;
mod stable;
mod stretches;

pub use builder::{Obstacle, relations, relations_of_runs, relations_within};
