//! Source locations and diagnostics: what is wrong in a model, where, and how to fix it. This crate only describes
//! diagnostics; the command line renders them.

use std::sync::Arc;

/// A range of bytes of one source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to but excluding `end`.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end) }
    }
    /// The smallest span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
    /// The same as a range of byte offsets.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A source text and the name to show for it. It may consist of several files, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The first file's name as the user gave it.
    pub name: String,
    /// The text of all files, concatenated.
    pub text: Arc<str>,
    /// The start offsets of further files, and their names.
    pub files: Vec<(u32, String)>,
}

impl Source {
    /// A source text with the name to show for it.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into(), files: Vec::new() }
    }
    /// This source with another file after it.
    #[must_use]
    pub fn followed_by(&self, other: &Self) -> Self {
        let text = format!("{}\n{}", self.text, other.text);
        let start = self.text.len() as u32 + 1;
        let mut files = self.files.clone();
        files.push((start, other.name.clone()));
        files.extend(other.files.iter().map(|(offset, name)| (start + offset, name.clone())));
        Self { name: self.name.clone(), text: text.into(), files }
    }
    /// The name and the range of the file that a byte belongs to.
    pub fn file_at(&self, offset: u32) -> (&str, std::ops::Range<usize>) {
        let after = self.files.partition_point(|(start, _)| *start <= offset);
        let (start, name) = match after.checked_sub(1).map(|position| &self.files[position]) {
            Some((start, name)) => (*start as usize, name.as_str()),
            None => (0, self.name.as_str()),
        };
        // The line break between two files belongs to neither.
        let end = self.files.get(after).map_or(self.text.len(), |(start, _)| *start as usize - 1);
        (name, start..end)
    }
    /// One-based line and column (in characters) of a byte offset, in its file.
    pub fn line_and_column(&self, offset: u32) -> (usize, usize) {
        let mut end = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let (_, file) = self.file_at(offset);
        let before = &self.text[file.start.min(end)..end];
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let start_of_line = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, before[start_of_line..].chars().count() + 1)
    }
    /// The name of the file at an offset, without folders.
    pub fn short_name(&self, offset: u32) -> &str {
        let (name, _) = self.file_at(offset);
        name.rsplit(['/', '\\']).next().unwrap_or(name)
    }
    /// `name:line:column` of the start of a span.
    pub fn locate(&self, span: Span) -> String {
        let (line, column) = self.line_and_column(span.start);
        format!("{}:{line}:{column}", self.file_at(span.start).0)
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model can be used, but probably does not mean what was intended.
    Warning,
}

/// A span with a short text about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The location.
    pub span: Span,
    /// The text.
    pub text: String,
}

/// One message to the author of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable short code such as `unknown-name`, for search and for tests.
    pub code: &'static str,
    /// What is wrong, in one line, without a final full stop.
    pub message: String,
    /// The location it is about. Only a message about a whole file has none.
    pub primary: Option<Label>,
    /// Other relevant locations ("first declared here").
    pub secondary: Vec<Label>,
    /// How to fix it.
    pub help: Option<String>,
    /// The claim of the model it is about, if it is about one.
    pub claim: Option<Claim>,
}

/// A claim of a model, in the words of its language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What sort of claim it is: `ltl`, `never`, `trace`.
    pub kind: &'static str,
    /// Its name, or a description if it has none.
    pub name: String,
}

impl Diagnostic {
    /// An error at a location.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        let primary = Some(Label { span, text: String::new() });
        let (message, secondary) = (message.into(), Vec::new());
        Self { severity: Severity::Error, code, message, primary, secondary, help: None, claim: None }
    }
    /// A warning at a location.
    pub fn warning(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, span) }
    }
    /// Adds a text to the primary location.
    #[must_use]
    pub fn with_label(mut self, text: impl Into<String>) -> Self {
        if let Some(primary) = &mut self.primary {
            primary.text = text.into();
        }
        self
    }
    /// Adds another location.
    #[must_use]
    pub fn with_secondary(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }
    /// Adds a hint.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
    /// Names the claim it is about.
    #[must_use]
    pub fn about(mut self, kind: &'static str, name: impl Into<String>) -> Self {
        self.claim = Some(Claim { kind, name: name.into() });
        self
    }
    /// Whether this makes the model unusable.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
