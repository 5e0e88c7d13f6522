//! What holds for all front ends, through the table of languages.

mod formulas;
mod outline;
