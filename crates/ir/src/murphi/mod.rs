//! The Murphi printer: any model as a program that rumur reads, with the same states, the same
//! steps and the same verdicts. What the language lacks is written out:
//!
//! * Enumerations and scalarsets whose values meet others (all members of unions) become ranges,
//!   and unions with them ([`kinds`]).
//! * A multiset becomes an array of records that is sorted at the end of every step
//!   ([`multisets`]).
//! * A parameter of an array or record type becomes one parameter for each of its cells.
//! * An expression that needs statements (a count over a multiset, a field of a function's result)
//!   becomes a generated function ([`generated`]).
//! * Locals without a declared range get the range of what is assigned to them ([`bounds`]), or
//!   all 64-bit integers but the least, which Murphi cannot hold beside "undefined".
//!
//! Names are kept unless Murphi cannot have them ([`names`]). Printing what was read from printed
//! text gives that text again, unless a construct above had to be written out.

mod bounds;
mod expressions;
mod generated;
mod kinds;
mod multisets;
mod names;
mod owner;
mod program;
mod scope;
mod statements;
#[cfg(test)]
mod tests;
mod types;
mod walk;

use crate::model::Model;

/// How to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// The greatest length of the program in bytes. Shared expressions are written out wherever
    /// they are used, so a small model can have a very long text.
    pub max_bytes: usize,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self { max_bytes: 1 << 28 }
    }
}

/// Why a model cannot be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrintError {
    /// Something has no counterpart in Murphi.
    #[error("{place} cannot be written in Murphi: {reason}")]
    Unprintable {
        /// The rule, function, variable, … it is in.
        place: String,
        /// What is in the way.
        reason: String,
    },
    /// The text is too long.
    #[error("the Murphi text is longer than {limit} bytes")]
    TooLong {
        /// The limit that was set.
        limit: usize,
    },
}

/// A model as a Murphi program that rumur accepts.
///
/// # Errors
/// If the model has something that Murphi cannot express, or the text gets too long.
pub fn print_murphi(model: &Model, options: &PrintOptions) -> Result<String, PrintError> {
    program::Printer::new(model, options).print()
}
