//! Tests of explicit searches on whole models as one test program.

mod checkpoint;
mod markers;
mod passing;
mod quotient;
mod search;
