//! Tests of the editor service as one test program.

mod client;
mod protocol;
mod robustness;
