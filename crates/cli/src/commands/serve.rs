//! `--serve`: a page about a model, until the user ends it.

use std::io::{self, IsTerminal};
use std::process::{Command, ExitCode, Stdio};

use quotient::Control;
use quotient_explorer::{Server, Subject};

use crate::arguments::PageArguments;
use crate::commands::exit_status;
use crate::failure::{Failure, INCONCLUSIVE};
use crate::terminal::{Reader, print};
use crate::watch::stop_on_interrupt;

/// Serves a page until it is interrupted. The exit status is that of the search.
pub(super) fn run(arguments: &PageArguments, subject: Subject, control: &Control) -> Result<ExitCode, Failure> {
    let server = Server::start(subject, arguments.port.unwrap_or(0), control.clone())
        .map_err(|error| Failure::Usage(format!("cannot serve a page: {error}")))?;
    stop_on_interrupt(server.stopper());
    let address = server.address().to_owned();
    if print(&format!("page: {address}\n"))? == Reader::Gone {
        server.stopper().stop();
    }
    if !arguments.no_browser && io::stdout().is_terminal() {
        open(&address);
    }
    match server.wait().as_deref() {
        Some(Ok(found)) => Ok(ExitCode::from(exit_status(found.report.verdict))),
        // The page shows the reason.
        Some(Err(_)) | None => Ok(ExitCode::from(INCONCLUSIVE)),
    }
}

/// Opens an address with the program that the system has for it, if there is one.
fn open(address: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The address is printed, too.
    let _ = command.spawn();
}
