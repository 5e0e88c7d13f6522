//! What checks of temporal properties share, whichever engine builds the graph: the atoms and automata of formulas, what is
//! treated fairly ([`classes`]), components that a fair run can stay in ([`components`]), CTL and CTL* on an explicit graph
//! ([`tree`]), and the reports.

mod atoms;
mod automata;
pub mod classes;
pub mod components;
mod graph;
mod reports;
pub mod tree;

pub use atoms::{AtomicModel, locals_in, without_claims};
pub use automata::{follower, negated};
pub use reports::{PartsReport, ProductReport, TemporalReport, UsedSymmetry, remarks};
