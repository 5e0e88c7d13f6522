//! Constraints: an expression in the language of a model, given separately from it. States in which it is false are
//! stored and checked, but not expanded.
//!
//! The expression is parsed as part of the text, as a property of single states, so names, types and macros have the
//! same meaning in it as in the text. The property then becomes a constraint. Files of a source begin on a new line, so
//! the expression has lines of its own.

use std::ops::Range;

use quotient_ir::{Diagnostic, Model, PropertyKind, Source, Span};

use crate::Language;

/// The file name of the constraint in messages.
const NAME: &str = "--constraint";
/// The name of the formula that carries it in Promela.
const FORMULA: &str = "quotient_constraint";

/// A text with a constraint in it.
#[derive(Clone, Debug)]
pub struct Constrained {
    /// The text to read.
    pub source: Source,
    /// The same text, in which the constraint is a file of its own: for messages.
    pub shown: Source,
    /// Where the constraint is.
    place: Range<u32>,
}

/// Puts a constraint into a text.
///
/// # Errors
/// If it cannot be a single expression, with the text to show.
pub fn with_constraint(
    source: &Source,
    language: Language,
    expression: &str,
) -> Result<Constrained, (Source, Vec<Diagnostic>)> {
    let alone = |message: &str, span: Span, help: &str| {
        let diagnostic = Diagnostic::error("constraint", message, span).with_help(help);
        (Source::new(NAME, expression), vec![diagnostic])
    };
    let help = "a constraint is one condition on the state, such as `x < 3`";
    if expression.trim().is_empty() {
        return Err(alone("the constraint is empty", Span::default(), help));
    }
    let separators: &[char] = if language == Language::Promela { &[';', '{', '}'] } else { &[';'] };
    if let Some(at) = expression.find(separators) {
        return Err(alone("a constraint is a single expression", Span::new(at, at + 1), help));
    }
    let end = source.files.first().map_or(source.text.len(), |(start, _)| *start as usize - 1);
    let text = &source.text[..end];
    let (at, before, after) = match language {
        Language::Murphi => (end, "\nassume (\n".to_owned(), "\n);\n"),
        Language::Promela => (end, format!("\nltl {FORMULA} {{ [] (\n"), "\n) }\n"),
        Language::Dve => (end, "\nassert (\n".to_owned(), "\n);\n"),
        Language::B => {
            match (last_word(&without_comments(text), "ASSERTIONS"), last_word(&without_comments(text), "END")) {
                (Some(clause), _) => (clause + "ASSERTIONS".len(), " (\n".to_owned(), "\n) ;\n"),
                (None, Some(last)) => (last, "\nASSERTIONS (\n".to_owned(), "\n)\n"),
                (None, None) => return Err(alone("the machine has no end", Span::default(), "write `END` behind it")),
            }
        }
    };
    let start = at + before.len();
    let stop = start + expression.len();
    let all = format!("{}{before}{expression}{after}{}", &source.text[..at], &source.text[at..]);
    let shift = (all.len() - source.text.len()) as u32;
    let files: Vec<(u32, String)> = source.files.iter().map(|(start, name)| (start + shift, name.clone())).collect();
    let read = Source { name: source.name.clone(), text: all.into(), files };
    let mut shown = read.clone();
    shown.files.insert(0, (start as u32, NAME.to_owned()));
    if at < end {
        // What follows it in the text belongs to the text again.
        shown.files.insert(1, ((stop + after.len()) as u32, source.name.clone()));
    }
    Ok(Constrained { source: read, shown, place: start as u32..stop as u32 })
}

impl Constrained {
    /// Turns the property inserted into the text into a constraint.
    ///
    /// # Errors
    /// If there is none.
    pub fn apply(self, model: &mut Model) -> Result<(), (Source, Vec<Diagnostic>)> {
        let mut found = Vec::new();
        for id in model.properties.indices() {
            let property = &mut model.properties[id];
            // A property may begin with its keyword, or be a part of what was written.
            let overlaps = property.span.start < self.place.end && self.place.start < property.span.end;
            let is_of_constraint = overlaps || property.name.as_deref() == Some(FORMULA);
            if is_of_constraint && matches!(property.kind, PropertyKind::Assumption | PropertyKind::Invariant) {
                property.kind = PropertyKind::Constraint;
                found.push(id);
            }
        }
        model.assertions.retain(|id| !found.contains(id));
        model.source = self.shown.clone();
        if found.is_empty() {
            let span = Span { start: self.place.start, end: self.place.end };
            let message = "this cannot be used as a constraint: it is not a condition on single states";
            return Err((self.shown, vec![Diagnostic::error("constraint", message, span)]));
        }
        Ok(())
    }
}

/// The text of a B machine with its comments blanked out.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'/', b'*', ..] => text[at + 2..].find("*/").map_or(bytes.len(), |end| at + end + 4),
            [b'/', b'/', ..] => text[at..].find('\n').map_or(bytes.len(), |end| at + end),
            _ => at,
        };
        bytes[at..end].fill(b' ');
        at = end.max(at + 1);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last occurrence of a word.
fn last_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let occurrences = text
        .match_indices(word)
        .map(|(at, _)| at)
        .filter(|&at| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part));
    occurrences.last()
}
