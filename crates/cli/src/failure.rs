//! The ways a command ends without a result, and the exit status of each.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use quotient_ir::{Diagnostic, Source, Span};

/// Every property holds.
pub(crate) const HOLDS: u8 = 0;
/// A property is violated.
pub(crate) const VIOLATED: u8 = 1;
/// Wrong usage, or a file that cannot be read or written.
pub(crate) const WRONG_USAGE: u8 = 2;
/// The model is invalid or uses something unsupported.
pub(crate) const INVALID_MODEL: u8 = 3;
/// No verdict.
pub(crate) const INCONCLUSIVE: u8 = 4;

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line asks for something that is not there.
    Usage(String),
    /// The model cannot be used, for these reasons.
    Model {
        /// The model's text.
        source: Source,
        /// What is wrong with it.
        diagnostics: Vec<Diagnostic>,
    },
    /// This program contradicts itself.
    Internal(String),
}

impl Failure {
    /// A file or stream that cannot be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::Usage(format!("cannot {doing} `{}`: {error}", path.display()))
    }
    /// Something about the model as a whole.
    pub(crate) fn whole_model(source: Source, code: &'static str, message: impl Into<String>) -> Self {
        let diagnostic = Diagnostic { primary: None, ..Diagnostic::error(code, message, Span::default()) };
        Self::Model { source, diagnostics: vec![diagnostic] }
    }
    /// The exit status.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) => WRONG_USAGE,
            Self::Model { .. } => INVALID_MODEL,
            Self::Internal(_) => INCONCLUSIVE,
        })
    }
}

impl From<io::Error> for Failure {
    /// Only standard output is written without a path at hand.
    fn from(error: io::Error) -> Self {
        Self::Usage(format!("cannot write to standard output: {error}"))
    }
}
