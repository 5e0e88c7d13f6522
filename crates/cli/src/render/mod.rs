//! Everything that is shown: diagnostics, states and traces, results for people and as JSON.

mod context;
pub(crate) mod diagnostics;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod manual;
pub(crate) mod quantity;
pub(crate) mod sequence_chart;
pub(crate) mod state;
pub(crate) mod symmetry;
pub(crate) mod trace;
