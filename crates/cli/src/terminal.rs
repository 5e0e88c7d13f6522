//! The two output streams: colours, and writing to them without failing when the reader is gone.

use std::io::{self, IsTerminal, Write};

pub(crate) use quotient::names::visible;

/// Colours for one stream, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Palette {
    enabled: bool,
}

impl Palette {
    /// No colours.
    pub(crate) const PLAIN: Self = Self { enabled: false };

    /// Colours if standard output is a terminal and they are not disabled.
    pub(crate) fn for_stdout() -> Self {
        Self { enabled: io::stdout().is_terminal() && colours_are_welcome() }
    }
    /// Colours if standard error is a terminal and they are not disabled.
    pub(crate) fn for_stderr() -> Self {
        Self { enabled: io::stderr().is_terminal() && colours_are_welcome() }
    }
    /// Whether there are colours.
    pub(crate) fn is_enabled(self) -> bool {
        self.enabled
    }
    fn paint(self, code: &str, text: &str) -> String {
        if self.enabled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
    /// A success.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }
    /// A failure.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }
    /// Something undecided.
    pub(crate) fn open(self, text: &str) -> String {
        self.paint("1;33", text)
    }
    /// A heading or the name of a step.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }
    /// Something of minor importance.
    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
    /// A new value.
    pub(crate) fn fresh(self, text: &str) -> String {
        self.paint("36", text)
    }
}

/// `NO_COLOR` (see no-color.org) counts if it is not empty; a dumb terminal shows no colours.
fn colours_are_welcome() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
}

/// Whether standard output is still being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// As far as is known.
    Listening,
    /// The reader has closed its end, which is not an error.
    Gone,
}

/// Writes a text to standard output.
///
/// # Errors
/// If the text cannot be written although the reader is still there.
pub(crate) fn print(text: &str) -> io::Result<Reader> {
    print_with(|writer| writer.write_all(text.as_bytes()))
}

/// Writes something long to standard output piece by piece.
///
/// # Errors
/// If it cannot be written although the reader is still there.
pub(crate) fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Reader> {
    let mut writer = io::BufWriter::new(io::stdout().lock());
    match write(&mut writer).and_then(|()| writer.flush()) {
        Ok(()) => Ok(Reader::Listening),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(error),
    }
}

/// Writes to standard error, ignoring failures.
pub(crate) fn complain(text: &str) {
    let mut stderr = io::stderr().lock();
    // There is nowhere to report that this failed.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
