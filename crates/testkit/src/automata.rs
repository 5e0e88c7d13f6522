//! Automata as peers print them: SPIN's never claims, and the output of lbt.

pub mod lbt;
pub mod never;
mod scanner;

/// What is wrong with the text of an automaton, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct FormatError {
    /// What is wrong, in one line.
    pub message: String,
    /// The offset of the byte where it is wrong.
    pub offset: usize,
    /// The line of that byte, from 1.
    pub line: usize,
}
