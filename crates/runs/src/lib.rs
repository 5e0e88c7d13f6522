//! Temporal properties: is there a run that violates the formula ([`check_temporal`])? Products of a model with an automaton,
//! searched on the fly, and refinement of one behaviour by another.

mod door;
mod refinement;
mod temporal;

pub use door::{RunQuestion, Runs};
pub use temporal::{check_temporal, global_obstacle, parts_obstacle};
