//! Test support: peers that answer the same questions, expectations in model files, generators of random models
//! (`random_*`), oracles by brute force (`reference` runs the interpreter as a system, `symmetry_oracle`,
//! `temporal_oracle`, `refinement_oracle`), and the `conformance` cross of models, engines and reductions. Nothing here
//! is part of the tool.

pub mod abc;
pub mod actions;
pub mod agreement;
pub mod automata;
pub mod beem;
pub mod browser;
pub mod conformance;
pub mod examples;
pub mod expectation;
pub mod loose_murphi;
pub mod mutants;
pub mod oracle;
pub mod outcomes;
pub mod partial_murphi;
pub mod pictures;
pub mod pool;
pub mod promela;
pub mod promela_lowering;
pub mod random_b;
pub mod random_coverability;
pub mod random_csp;
pub mod random_dve;
pub mod random_families;
pub mod random_models;
pub mod random_murphi;
pub mod random_pnml;
pub mod random_promela;
pub mod random_temporal;
pub mod reference;
pub mod refinement_oracle;
pub mod rumur;
pub mod search;
pub mod spin;
pub mod symmetric_murphi;
pub mod symmetry_oracle;
pub mod temporal_oracle;
pub mod verdict;
pub mod workers;

pub use quotient_language_testkit::{prerequisites, robustness, switches};
