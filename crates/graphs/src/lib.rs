//! What checks of temporal properties share, whichever engine builds the graph. Knows nothing of how it is built.
//!
//! * `atoms` makes the conditions of a formula properties that can be evaluated one by one; `automata` has the
//!   automata of claims.
//! * [`classes`] says what is treated fairly, [`components`] finds components that a fair run can stay in.
//! * [`tree`] decides CTL and CTL*: fixpoints for the operators of CTL, a product with an automaton for other path
//!   formulas, and for both the components in which a fair path can stay. The evidence (`tree/ways.rs`,
//!   `tree/evidence.rs`) is a path, with the claims about states of it that the path does not show.
//! * `reports` has the results.
//!
//! To change what fairness means, see `classes` (what is treated fairly), `components` (when a component has a fair
//! run), `tree/ways.rs` and `runs/src/temporal/lasso.rs` (cycles that are fair).

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
