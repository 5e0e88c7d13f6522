//! Tests of formulas and automata as one test program.

mod branching;
mod words;
