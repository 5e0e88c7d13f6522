//! What searches that store states share: the store and its dense form, the expansion of a state, the only way into a store
//! ([`judge`]), lookup, findings and the runs to them, liveness, checkpoints, states on disk, and the way from a search to a
//! report ([`search_and_judge`], [`check_orbits`]).
//!
//! An [`Explorer`] says how the states are found: in one process or in several.

pub mod batch;
pub mod checkpoint;
mod cross_check;
pub mod dense;
pub mod expansion;
mod exploration;
pub mod findings;
pub mod judge;
mod judging;
mod liveness;
mod lookup;
mod numbers;
mod overflow;
pub mod pages;
mod planned;
pub mod rebuild;
pub mod recent;
pub mod records;
mod shards;
mod statistics;
pub mod store;
mod violation_kind;

pub use cross_check::{compare_verdicts, differ, state_text, unfinished};
pub use exploration::{End, Exploration, Finding, Halt, Rest, note, stop};
pub use judging::{Explorer, OrbitCounter, Orbits, search_and_judge};
pub use lookup::Lookup;
pub use overflow::Overflow;
pub use planned::{check_orbits, check_quotient};
pub use shards::{Everywhere, Shards};
