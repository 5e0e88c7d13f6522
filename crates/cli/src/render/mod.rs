//! Rendering: diagnostics, states and traces, results as text and as JSON.

pub(crate) mod certificate;
mod context;
pub(crate) mod diagnostics;
pub(crate) mod every;
pub(crate) mod header;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod manual;
pub(crate) mod page;
pub(crate) mod quantity;
pub(crate) mod results;
pub(crate) mod sarif;
pub(crate) mod sequence_chart;
pub(crate) mod symmetry;
pub(crate) mod trace;
