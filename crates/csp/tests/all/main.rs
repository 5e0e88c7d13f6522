//! The tests of the front end of CSP#: one program, so that it is linked once.

mod guide;
mod robustness;
