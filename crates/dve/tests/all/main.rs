//! The tests of the front end of DVE: one program, so that it is linked once.

mod diagnostics;
mod guide;
mod properties;
mod robustness;
