//! `quotient language-server`: the editor service.

use std::process::ExitCode;

use quotient_language_server::{ServerError, serve_stdio};

use crate::failure::{Failure, HOLDS};

/// Runs the command.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    match serve_stdio(std::env::current_exe().ok()) {
        Ok(()) => Ok(ExitCode::from(HOLDS)),
        Err(error @ ServerError::Connection(_)) => Err(Failure::Usage(error.to_string())),
        Err(ServerError::Defect(defect)) => Err(Failure::Library(defect.into())),
    }
}
