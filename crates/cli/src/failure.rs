//! The ways a command ends without a result, and the exit status of each.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use quotient::Error;

/// Every property holds.
pub(crate) const HOLDS: u8 = 0;
/// A property is violated.
pub(crate) const VIOLATED: u8 = 1;
/// Wrong usage, or a file that cannot be written.
pub(crate) const WRONG_USAGE: u8 = 2;
/// The model cannot be read, is invalid or uses something unsupported.
pub(crate) const INVALID_MODEL: u8 = 3;
/// No verdict.
pub(crate) const INCONCLUSIVE: u8 = 4;
/// A defect of this program.
pub(crate) const INTERNAL_ERROR: u8 = 5;

/// The reasons for a missing result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line requests something that does not exist, or a file cannot be written.
    Usage(String),
    /// An error of the library.
    Library(Error),
}

impl Failure {
    /// A file or stream that cannot be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::Usage(format!("cannot {doing} `{}`: {error}", path.display()))
    }
    /// The exit status for the system.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit_status())
    }
    /// The exit status.
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Library(Error::Refused(_)) => WRONG_USAGE,
            Self::Library(Error::Model(_) | Error::File { .. }) => INVALID_MODEL,
            Self::Library(Error::Stopped(_) | Error::Lost { .. }) => INCONCLUSIVE,
            Self::Library(Error::Internal(_)) => INTERNAL_ERROR,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<io::Error> for Failure {
    /// Only standard output is written without a path.
    fn from(error: io::Error) -> Self {
        Self::Usage(format!("cannot write to standard output: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use std::process::ExitCode;

    use quotient::{Error, defect};

    use super::{Failure, INTERNAL_ERROR};

    #[test]
    fn a_panic_is_an_internal_error() {
        let defect = defect::catch(|| panic!("this cannot be")).expect_err("it panics");
        let failure = Failure::from(Error::from(defect));
        assert_eq!(format!("{:?}", failure.exit_code()), format!("{:?}", ExitCode::from(INTERNAL_ERROR)));
        let Failure::Library(error) = failure else { panic!("it comes from the library") };
        assert!(error.to_string().starts_with("internal error: this cannot be"), "{error}");
    }
}
