//! The lexer: source text to tokens. Comments vanish; characters that start no token are reported
//! here and stand as [`TokenKind::Unknown`], so that the parser does not report them again.

use logos::Logos;
use quotient_ir::{Diagnostic, Span};

use super::MAXIMUM_ERRORS;
use super::token::{Token, TokenKind};

/// Tokens of a text, the last one [`TokenKind::EndOfFile`], and every lexical error.
pub(super) fn tokenize(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, tokens: Vec::new(), diagnostics: Vec::new(), multiline: true };
    if !lexer.run() {
        // A quote is missing somewhere, and everything after it is inside out. It is most likely
        // missing at the end of a line, so each string is taken to end with its line at the latest.
        lexer = Lexer { text, tokens: Vec::new(), diagnostics: Vec::new(), multiline: false };
        lexer.run();
    }
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
    /// Whether a string may go over several lines, as rumur allows.
    multiline: bool,
}

impl<'a> Lexer<'a> {
    /// Reads all tokens; false if a string that may go over several lines has no end.
    fn run(&mut self) -> bool {
        let mut lexer = TokenKind::lexer(self.text);
        while let Some(found) = lexer.next() {
            let span = Span::new(lexer.span().start, lexer.span().end);
            match found {
                Ok(TokenKind::Identifier) => self.word(lexer.slice(), span),
                Ok(TokenKind::Comment) => match lexer.remainder().find("*/") {
                    Some(length) => lexer.bump(length + 2),
                    None => {
                        self.report(
                            Diagnostic::error("unterminated-comment", "a comment is never closed", span)
                                .with_label("the comment starts here")
                                .with_help("close it with `*/`"),
                        );
                        lexer.bump(lexer.remainder().len());
                    }
                },
                Ok(TokenKind::Text) => match self.string_length(lexer.slice(), lexer.remainder()) {
                    Ok(length) => {
                        lexer.bump(length);
                        self.push(TokenKind::Text, Span::new(lexer.span().start, lexer.span().end));
                    }
                    Err(_) if self.multiline => return false,
                    Err(length) => {
                        lexer.bump(length);
                        let span = Span::new(lexer.span().start, lexer.span().end);
                        self.report(
                            Diagnostic::error("unterminated-string", "a string is never closed", span)
                                .with_label("the string starts here")
                                .with_help("close it with `\"`"),
                        );
                        self.push(TokenKind::Text, span);
                    }
                },
                Ok(TokenKind::LineMarker) => {
                    // Left by a preprocessor. Elsewhere than at the start of a line it is garbage.
                    let line = self.text[..lexer.span().start].rfind('\n').map_or(0, |newline| newline + 1);
                    if !self.text[line..lexer.span().start].trim().is_empty() {
                        self.unknown(span);
                    }
                }
                Ok(TokenKind::ForallSign) => self.push(TokenKind::Forall, span),
                Ok(TokenKind::ExistsSign) => self.push(TokenKind::Exists, span),
                Ok(kind) => self.push(kind, span),
                Err(()) => self.unknown(span),
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
        self.push(TokenKind::keyword(word).unwrap_or(TokenKind::Identifier), span);
    }

    /// How many bytes after its opening quote a string ends, its closing quote included. If it has
    /// none: how many bytes there are to the end of the line.
    fn string_length(&self, opening: &str, rest: &str) -> Result<usize, usize> {
        let mut escaped = false;
        for (offset, character) in rest.char_indices() {
            match character {
                '\n' if !self.multiline => return Err(offset - usize::from(rest[..offset].ends_with('\r'))),
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => return Ok(offset + 1),
                '”' if opening == "“" => return Ok(offset + '”'.len_utf8()),
                _ => {}
            }
        }
        Err(rest.len())
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
