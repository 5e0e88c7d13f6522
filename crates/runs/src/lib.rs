//! Temporal properties: is there a run that violates the formula ([`check_temporal`])? Knows no other engine.
//!
//! * `temporal`: products of a model with the automaton of the negated formula, searched on the fly, with the
//!   symmetries that each state of the automaton allows ([why
//!   so](../../../docs/adr/0021-products-and-symmetries-by-need.md)) and, where they suffice, a part of the steps
//!   ([why so](../../../docs/adr/0032-partial-order-for-temporal-formulas.md)). Global fairness is decided on the
//!   graph of all states ([why so](../../../docs/adr/0028-fairness-as-pat-offers-it.md)).
//! * `refinement`: claims about events, that is refinement, divergence and determinism ([why
//!   so](../../../docs/adr/0026-claims-about-events.md)): `graph` has the states and their steps with events, `normal`
//!   the sets of states of the specification, `observed` the model with events in which symmetries are found, and
//!   `symmetries` how they act on pairs.
//!
//! A new kind of claim is added to `ir::TemporalClaim`, to `ir/src/trace/temporal.rs` (what violates it) and to
//! `temporal`. The oracles are `testkit/src/temporal_oracle.rs`, the graph by the reference interpreter and a tableau
//! instead of automata, and `testkit/src/refinement_oracle.rs`, which has the definitions.
//! `testkit/tests/all/temporal.rs` compares all engines with the first on random models, with each sort of fairness;
//! `temporal_partial_order.rs` compares searches with a part of the steps.

mod door;
mod refinement;
mod temporal;

pub use door::{RunQuestion, Runs};
pub use temporal::{check_temporal, global_obstacle, parts_obstacle};
