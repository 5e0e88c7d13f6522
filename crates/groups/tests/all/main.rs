//! Tests of groups as one test program.

mod automorphism;
mod groups;
mod large;
mod peers;
