//! Pages of the explorer that an editor asks for. Each is served by a process of its own, `quotient check --serve`, so that it
//! is what the command line shows; it ends with the service.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use quotient::Control;

/// How often it is looked whether a page is still wanted.
const INTERVAL: Duration = Duration::from_millis(50);

/// A page that is served.
pub(crate) struct Page {
    process: Child,
    pub(crate) address: String,
}

impl Page {
    /// Serves a page about a file, and waits for its address.
    ///
    /// # Errors
    /// What the program says if it does not serve a page.
    pub(crate) fn open(program: &Path, file: &Path, control: &Control) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.args(["check", "--serve", "--no-browser"]).arg(file);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = command.spawn().map_err(|error| format!("cannot start `{}`: {error}", program.display()))?;
        let mut page = Self { process, address: String::new() };
        let (sender, receiver) = mpsc::channel();
        let output = page.process.stdout.take();
        std::thread::spawn(move || {
            let mut line = String::new();
            // A line that cannot be read is none.
            let _ = output.map(|output| BufReader::new(output).read_line(&mut line));
            let _ = sender.send(line);
        });
        let line = loop {
            match receiver.recv_timeout(INTERVAL) {
                Ok(line) => break line,
                Err(RecvTimeoutError::Disconnected) => break String::new(),
                Err(RecvTimeoutError::Timeout) if control.stop_reason().is_some() => {
                    return Err("the page is no longer wanted".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        if let Some(address) = line.trim().strip_prefix("page: ") {
            page.address = address.to_owned();
            return Ok(page);
        }
        let mut said = String::new();
        let _ = page.process.stderr.take().map(|mut errors| errors.read_to_string(&mut said));
        Err(if said.trim().is_empty() { "no page is served".to_owned() } else { said.trim().to_owned() })
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
