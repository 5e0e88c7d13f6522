//! The editor service: Murphi, Promela, B, DVE and CSP# over the language server protocol.
//!
//! [`serve`] answers one client. It knows texts, places and messages; what a text means it asks the facade, as the
//! command line does. Requests about names are answered at once, from the outline of the text as it is. What takes
//! longer runs on other threads: reading a model, and checks.
//!
//! `server` is one loop over messages of the client and results of other threads. `answers` answers questions about a
//! text from its outline, `document` reads a text as a model, with what the text shows about symmetries, `runs`
//! checks, `pages` opens the explorer. `text` has places as editors count them, and incremental changes; `uris` the
//! addresses of files.

mod answers;
mod document;
mod pages;
mod runs;
mod server;
mod text;
mod uris;

use std::path::PathBuf;

use lsp_server::Connection;

/// The stack of the thread that answers requests: outlines recurse with the nesting of the text.
const STACK_BYTES: usize = 256 << 20;

/// Why the service ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The client broke the connection off, or what it sent is not the protocol.
    #[error("the connection to the editor ended: {0}")]
    Connection(#[from] std::io::Error),
    /// The service itself failed.
    #[error(transparent)]
    Defect(#[from] quotient::Defect),
}

/// Serves the client on standard input and output, until it says goodbye. `program` is `quotient` itself, which serves the
/// pages of the explorer.
///
/// # Errors
/// If the connection ends without that, or there is a defect in this program.
pub fn serve_stdio(program: Option<PathBuf>) -> Result<(), ServerError> {
    let (connection, threads) = Connection::stdio();
    serve(connection, program)?;
    threads.join()?;
    Ok(())
}

/// Serves one client, until it says goodbye or closes the connection. Without a program there are no pages of the explorer.
///
/// # Errors
/// If there is a defect in this program.
pub fn serve(connection: Connection, program: Option<PathBuf>) -> Result<(), ServerError> {
    let thread = std::thread::Builder::new().name("language-server".to_owned()).stack_size(STACK_BYTES);
    let server = thread.spawn(move || quotient::defect::catch(|| server::run(connection, program)))?;
    let ended = server.join().unwrap_or_else(|_| Err(quotient::Defect::noticed("the service ended without a reason")));
    Ok(ended?)
}
