//! The lexer: source text to tokens. Comments are dropped. Characters that start no token are reported here and become
//! [`TokenKind::Unknown`], so that the parser does not report them again.

use quotient_ir::{Diagnostic, Span};
use quotient_kit::MAXIMUM_ERRORS;

use super::token::{CLAUSES, MATHEMATICAL, SIGNS, Token, TokenKind, WORDS};

/// The tokens of a text from an offset on, the last one the end of the file, and every lexical error.
pub(super) fn tokenize(text: &str, start: usize) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, position: start, tokens: Vec::new(), errors: Vec::new() };
    while lexer.position < text.len() && lexer.errors.len() <= MAXIMUM_ERRORS {
        lexer.token();
    }
    let end = Span::new(text.len(), text.len());
    lexer.tokens.push(Token { kind: TokenKind::EndOfFile, span: end });
    (lexer.tokens, lexer.errors)
}

struct Lexer<'a> {
    text: &'a str,
    position: usize,
    tokens: Vec<Token>,
    errors: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn push(&mut self, kind: TokenKind, length: usize) {
        let span = Span::new(self.position, self.position + length);
        self.tokens.push(Token { kind, span });
        self.position += length;
    }

    fn token(&mut self) {
        let rest = &self.text[self.position..];
        let Some(first) = rest.chars().next() else {
            return;
        };
        if first.is_whitespace() || first == '\u{feff}' {
            self.position += first.len_utf8();
        } else if rest.starts_with("/*") {
            self.comment(rest);
        } else if rest.starts_with("//") {
            self.position += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(&(_, meaning)) = MATHEMATICAL.iter().find(|(sign, _)| *sign == first) {
            self.mathematical(rest, first, meaning);
        } else if first.is_alphabetic() || first == '_' {
            self.word(rest);
        } else if first.is_ascii_digit() {
            let length = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
            self.push(TokenKind::Number, length);
        } else if first == '"' {
            self.string(rest);
        } else {
            let sign = SIGNS.iter().filter(|sign| rest.starts_with(**sign)).max_by_key(|sign| sign.len());
            match sign {
                Some(sign) => self.push(TokenKind::Sign(sign), sign.len()),
                None => self.unknown(first),
            }
        }
    }

    fn comment(&mut self, rest: &str) {
        match rest.find("*/") {
            Some(length) => self.position += length + 2,
            None => {
                let span = Span::new(self.position, self.position + 2);
                self.errors.push(
                    Diagnostic::error("unterminated-comment", "a comment is never closed", span)
                        .with_label("the comment starts here")
                        .with_help("close it with `*/`"),
                );
                self.position = self.text.len();
            }
        }
    }

    /// A sign of the mathematical notation, which may denote two tokens or a word.
    fn mathematical(&mut self, rest: &str, first: char, meaning: &'static str) {
        let length = first.len_utf8();
        match meaning {
            "{}" => {
                let start = self.position;
                self.push(TokenKind::Sign("{"), length);
                self.tokens.push(Token { kind: TokenKind::Sign("}"), span: Span::new(start, start + length) });
            }
            "NATURAL" | "POW" if rest[length..].starts_with(['1', '₁']) => {
                let one = rest[length..].chars().next().map_or(0, char::len_utf8);
                let kind = TokenKind::Word(if meaning == "POW" { "POW1" } else { "NATURAL1" });
                self.push(kind, length + one);
            }
            _ if meaning.starts_with(|it: char| it.is_ascii_alphabetic()) => {
                self.push(TokenKind::Word(meaning), length)
            }
            _ => self.push(TokenKind::Sign(meaning), length),
        }
    }

    fn word(&mut self, rest: &str) {
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let mut length = rest.find(|it: char| !is_part(it)).unwrap_or(rest.len());
        if let Some(word) = CLAUSES.iter().chain(WORDS).find(|word| **word == &rest[..length]) {
            self.push(TokenKind::Word(word), length);
            return;
        }
        // `left.counter` is one name; `!x.(…)` and `1..n` have no letter after the dot.
        loop {
            let after = &rest[length..];
            let mut characters = after.chars();
            if characters.next() == Some('.') && characters.next().is_some_and(|it| it.is_alphabetic() || it == '_') {
                let more = after[1..].find(|it: char| !is_part(it)).unwrap_or(after.len() - 1);
                length += 1 + more;
            } else {
                break;
            }
        }
        self.push(TokenKind::Identifier, length);
    }

    fn string(&mut self, rest: &str) {
        let line = rest.find('\n').unwrap_or(rest.len());
        let mut escaped = false;
        for (offset, character) in rest[..line].char_indices().skip(1) {
            match character {
                '\\' if !escaped => escaped = true,
                '"' if !escaped => {
                    self.push(TokenKind::Text, offset + 1);
                    return;
                }
                _ => escaped = false,
            }
        }
        let span = Span::new(self.position, self.position + line);
        self.errors.push(
            Diagnostic::error("unterminated-string", "a string is never closed", span)
                .with_label("the string starts here")
                .with_help("close it with `\"`"),
        );
        self.push(TokenKind::Unknown, line);
    }

    fn unknown(&mut self, first: char) {
        let length = first.len_utf8();
        let span = Span::new(self.position, self.position + length);
        let shown = if first.is_control() { first.escape_unicode().to_string() } else { first.to_string() };
        self.errors.push(
            Diagnostic::error("unknown-character", format!("`{shown}` has no meaning in B"), span)
                .with_label("this character"),
        );
        self.push(TokenKind::Unknown, length);
    }
}
