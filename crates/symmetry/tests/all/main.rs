//! Tests of detection and certification as one test program.

mod budget;
mod orders;
