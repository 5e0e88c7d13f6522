//! Limits on texts and on what is said about them, and texts from bytes.

use quotient_ir::{Diagnostic, Source, Span};

/// The maximum size of a source text, in bytes. Realistic models are far smaller; a larger file is a mistake, and
/// refusing it keeps time and memory bounded.
pub const MAXIMUM_SOURCE_BYTES: usize = 8 << 20;

/// The maximum number of errors reported for one file. More would hide the first ones, which matter most.
pub const MAXIMUM_ERRORS: usize = 50;

/// Converts a file's bytes to a source text. Bytes that are not UTF-8 become replacement characters: old models have
/// other encodings in their comments, where they are harmless; everywhere else the front end reports them.
///
/// # Errors
/// A diagnostic about the whole file, if it is too large or not text at all.
#[expect(clippy::result_large_err, reason = "this is called once a file, and boxing would burden every caller")]
pub fn source_from_bytes(name: &str, bytes: &[u8]) -> Result<Source, Diagnostic> {
    if bytes.len() > MAXIMUM_SOURCE_BYTES {
        return Err(too_large(name, bytes.len()));
    }
    if bytes.contains(&0) {
        let message = format!("`{name}` is not a text file");
        return Err(whole_file("not-text", message, "a model is plain text; this looks like a binary file"));
    }
    Ok(Source::new(name, String::from_utf8_lossy(bytes)))
}

/// The errors of one file in the order of the source, without those after the first [`MAXIMUM_ERRORS`].
pub fn first_errors(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|it| it.primary.as_ref().map(|label| label.span.start));
    if let Some(last) = errors.get(MAXIMUM_ERRORS) {
        let span = last.primary.as_ref().map(|label| label.span).unwrap_or_default();
        errors.truncate(MAXIMUM_ERRORS);
        errors.push(
            Diagnostic::error("too-many-errors", format!("more than {MAXIMUM_ERRORS} errors"), span)
                .with_label("the file is not checked from here on"),
        );
    }
    errors
}

pub(crate) fn too_large(name: &str, bytes: usize) -> Diagnostic {
    let message = format!("`{name}` is too large to be read as a model: {} MiB", bytes.div_ceil(1 << 20));
    whole_file("file-too-large", message, format!("models of up to {} MiB are read", MAXIMUM_SOURCE_BYTES >> 20))
}

fn whole_file(code: &'static str, message: String, help: impl Into<String>) -> Diagnostic {
    Diagnostic { primary: None, ..Diagnostic::error(code, message, Span::default()) }.with_help(help)
}
