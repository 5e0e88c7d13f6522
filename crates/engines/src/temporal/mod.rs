//! Temporal properties.

pub mod tree;
