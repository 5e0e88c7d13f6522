//! The lexer: source text to tokens. Comments are dropped. Characters that start no token are reported here and become
//! [`TokenKind::Unknown`], so that the parser does not report them again.

use quotient_ir::{Diagnostic, Span};
use quotient_kit::MAXIMUM_ERRORS;

use super::token::{Token, TokenKind};

/// Whether a string may go over several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strings {
    /// As rumur allows.
    OverLines,
    /// As a string whose closing quote was forgotten is best read.
    InLines,
}

/// The tokens of a text, the last one [`TokenKind::EndOfFile`], and every lexical error. Nothing if
/// a string that may go over several lines has no end.
pub(super) fn tokenize(text: &str, strings: Strings) -> Option<(Vec<Token>, Vec<Diagnostic>)> {
    let mut lexer = Lexer { text, tokens: Vec::new(), diagnostics: Vec::new(), strings };
    lexer.run().then_some((lexer.tokens, lexer.diagnostics))
}

struct Lexer<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
    strings: Strings,
}

impl<'a> Lexer<'a> {
    /// Reads all tokens; false if a string that may go over several lines has no end.
    fn run(&mut self) -> bool {
        let mut position = 0;
        while let Some((found, range)) = TokenKind::first(self.text, position) {
            position = range.end;
            let (word, rest) = (&self.text[range.clone()], &self.text[position..]);
            let span = Span::new(range.start, range.end);
            match found {
                Some(TokenKind::Identifier) => self.word(word, span),
                Some(TokenKind::Comment) => match rest.find("*/") {
                    Some(length) => position += length + 2,
                    None => {
                        self.report(
                            Diagnostic::error("unterminated-comment", "a comment is never closed", span)
                                .with_label("the comment starts here")
                                .with_help("close it with `*/`"),
                        );
                        position = self.text.len();
                    }
                },
                Some(TokenKind::Text) => {
                    let length = self.string_length(word, rest);
                    position += length.unwrap_or_else(|length| length);
                    let span = Span::new(range.start, position);
                    match length {
                        Ok(_) => self.push(TokenKind::Text, span),
                        Err(_) if self.strings == Strings::OverLines => return false,
                        Err(_) => {
                            self.report(
                                Diagnostic::error("unterminated-string", "a string is never closed", span)
                                    .with_label("the string starts here")
                                    .with_help("close it with `\"`"),
                            );
                            self.push(TokenKind::BrokenText, span);
                        }
                    }
                }
                Some(TokenKind::Directive) => self.directive(word, span),
                Some(TokenKind::Quoted) | None => self.unknown(span),
                Some(TokenKind::ForallSign) => self.push(TokenKind::Forall, span),
                Some(TokenKind::ExistsSign) => self.push(TokenKind::Exists, span),
                Some(kind) => self.push(kind, span),
            }
            if self.diagnostics.len() > MAXIMUM_ERRORS {
                break;
            }
        }
        self.push(TokenKind::EndOfFile, Span::new(self.text.len(), self.text.len()));
        true
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        self.tokens.push(Token { kind, span });
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn word(&mut self, word: &str, span: Span) {
        let keyword = TokenKind::keyword(word);
        if let Some(last) = self.tokens.last_mut()
            && last.kind == TokenKind::Number
            && last.span.end == span.start
            && keyword.is_none()
        {
            last.span = last.span.to(span);
            last.kind = TokenKind::Unknown;
            let last = last.span;
            self.report(Diagnostic::error("invalid-number", "invalid number", last).with_help(
                "a number consists of digits, or of `0x` and hexadecimal digits; a name starts with a letter",
            ));
            return;
        }
        if word.starts_with('_') {
            self.report(
                Diagnostic::error(
                    "invalid-name",
                    format!("the name `{}` starts with an underscore", shorten(word)),
                    span,
                )
                .with_help("a name starts with a letter"),
            );
        }
        self.push(keyword.unwrap_or(TokenKind::Identifier), span);
    }

    /// How many bytes after its opening quote a string ends, its closing quote included. If it has
    /// none: how many bytes there are to the end of the line.
    fn string_length(&self, opening: &str, rest: &str) -> Result<usize, usize> {
        let mut escaped = false;
        for (offset, character) in rest.char_indices() {
            match character {
                '\n' if self.strings == Strings::InLines => {
                    return Err(offset - usize::from(rest[..offset].ends_with('\r')));
                }
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => return Ok(offset + 1),
                '”' if opening == "“" => return Ok(offset + '”'.len_utf8()),
                _ => {}
            }
        }
        Err(rest.len())
    }

    /// A line that starts with `#`. Line markers of a preprocessor are harmless; unprocessed directives are not.
    fn directive(&mut self, directive: &str, span: Span) {
        let word = directive[1..].trim_start_matches([' ', '\t']);
        let starts_line = self.text[..span.start as usize]
            .trim_end_matches([' ', '\t'])
            .chars()
            .next_back()
            .is_none_or(|it| it == '\n');
        if !starts_line {
            self.unknown(span);
        } else if !["line", "pragma"].iter().any(|it| word.starts_with(it))
            && !word.starts_with(|it: char| it.is_ascii_digit())
        {
            self.report(
                Diagnostic::error("unexpected-character", "unexpected character `#`", span)
                    .with_help("Murphi has no preprocessor: run it before"),
            );
        }
    }

    /// Characters that start no token; a run of them is one error.
    fn unknown(&mut self, span: Span) {
        if let Some(last) = self.tokens.last_mut()
            && last.kind == TokenKind::Unknown
            && self.text[last.span.end as usize..span.start as usize].chars().all(|it| it == ' ' || it == '\t')
        {
            last.span = last.span.to(span);
            if let Some(primary) = self.diagnostics.last_mut().and_then(|it| it.primary.as_mut()) {
                primary.span = primary.span.to(span);
            }
            return;
        }
        let character = self.text[span.range()].chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        let message = format!("unexpected character {}", describe(character));
        let diagnostic = Diagnostic::error("unexpected-character", message, span);
        self.report(match hint(character) {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        });
        self.push(TokenKind::Unknown, span);
    }
}

fn describe(character: char) -> String {
    if character == char::REPLACEMENT_CHARACTER {
        "that is not UTF-8".to_owned()
    } else if character.is_control() {
        format!("U+{:04X}", u32::from(character))
    } else {
        format!("`{character}`")
    }
}

fn hint(character: char) -> Option<&'static str> {
    match character {
        '\'' | '‘' | '’' | '”' | '`' => Some("a string is written in double quotes: \"…\""),
        '#' => Some("Murphi has no preprocessor: run it before"),
        '…' => Some("a range is written with two full stops: `1..3`"),
        '@' | '$' | '\\' => None,
        _ if character.is_alphabetic() => Some("a name consists of the letters a to z, digits and underscores"),
        _ => None,
    }
}

/// A word short enough to be shown in a message.
pub(super) fn shorten(word: &str) -> String {
    const LONGEST: usize = 40;
    if word.chars().count() <= LONGEST {
        return word.to_owned();
    }
    word.chars().take(LONGEST).chain("…".chars()).collect()
}
