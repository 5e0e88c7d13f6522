//! The tests of the front end of B: one program, so that it is linked once.

mod constants;
mod diagnostics;
mod guide;
mod robustness;
