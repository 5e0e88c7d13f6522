//! The tests of the front end of PNML: one program, so that it is linked once.

mod diagnostics;
mod robustness;
