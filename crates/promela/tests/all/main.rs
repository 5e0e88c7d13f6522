//! The tests of the front end of Promela: one program, so that it is linked once.

mod diagnostics;
mod formulas;
mod guide;
mod language;
mod numbers;
mod robustness;
