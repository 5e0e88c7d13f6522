//! The tests of the front end of Murphi: one program, so that it is linked once.

mod corpus;
mod diagnostics;
mod execution;
mod format;
mod formulas;
mod guide;
mod numbers;
mod robustness;
