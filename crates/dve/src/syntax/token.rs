//! Tokens and the lexer.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};

/// A token and its location.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Name(Rc<str>),
    Keyword(&'static str),
    Number(i64),
    Symbol(&'static str),
    /// Something unreadable, already reported.
    Unknown,
    /// The end of the text.
    End,
}

impl Token {
    /// Whether it is a given keyword, operator or bracket.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Symbol(it) | TokenKind::Keyword(it) if it == text)
    }
    /// Its description in messages.
    pub(super) fn describe(&self) -> String {
        match &self.kind {
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Keyword(word) => format!("the keyword `{word}`"),
            TokenKind::Number(number) => format!("`{number}`"),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
            TokenKind::Unknown => "an unknown character".into(),
            TokenKind::End => "the end of the text".into(),
        }
    }
}

/// Reserved words.
pub(crate) const KEYWORDS: &[&str] = &[
    "accept", "and", "assert", "async", "byte", "channel", "commit", "const", "effect", "false", "guard", "imply",
    "init", "int", "not", "or", "process", "property", "state", "sync", "system", "trans", "true",
];

/// Longer ones first: the first that fits is taken.
const SYMBOLS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "+=", "-=", "*=", "/=", "%=", ":=", "{", "}", "(", ")", "[",
    "]", ";", ",", ".", "?", "!", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", ":",
];

/// Splits a text into tokens; the last is [`TokenKind::End`].
pub(super) fn tokenize(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut position = 0;
    while position < bytes.len() {
        let start = position;
        let byte = bytes[position];
        let rest = &bytes[position..];
        let word_length =
            || rest.iter().take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$')).count();
        let kind = if byte.is_ascii_whitespace() || byte == 0x0b {
            position += 1;
            continue;
        } else if rest.starts_with(b"//") {
            position += text[position..].find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with(b"/*") {
            position = match text[position + 2..].find("*/") {
                Some(length) => position + length + 4,
                None => {
                    let span = Span::new(start, start + 2);
                    let error = Diagnostic::error("unterminated-comment", "this comment does not end", span);
                    diagnostics.push(error.with_help("close it with `*/`"));
                    bytes.len()
                }
            };
            continue;
        } else if byte.is_ascii_digit() {
            position += word_length();
            number(&text[start..position], Span::new(start, position), diagnostics)
        } else if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') {
            position += word_length();
            let word = &text[start..position];
            match KEYWORDS.iter().find(|keyword| **keyword == word) {
                Some(keyword) => TokenKind::Keyword(keyword),
                None => TokenKind::Name(word.into()),
            }
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol.as_bytes())) {
            position += symbol.len();
            TokenKind::Symbol(symbol)
        } else {
            let character = text[position..].chars().next().unwrap_or(' ');
            position += character.len_utf8();
            let span = Span::new(start, position);
            // One message for a run of them.
            if !matches!(tokens.last(), Some(Token { kind: TokenKind::Unknown, span }) if span.end as usize == start) {
                let shown = character.escape_default();
                diagnostics.push(Diagnostic::error("unknown-character", format!("`{shown}` is not part of DVE"), span));
            }
            TokenKind::Unknown
        };
        tokens.push(Token { kind, span: Span::new(start, position) });
    }
    tokens.push(Token { kind: TokenKind::End, span: Span::new(text.len(), text.len()) });
    tokens
}

fn number(text: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) -> TokenKind {
    match text.parse::<i64>() {
        Ok(value) if value <= i64::from(i32::MAX) => TokenKind::Number(value),
        _ => {
            let error = Diagnostic::error("bad-number", format!("`{text}` is not a number"), span);
            diagnostics.push(error.with_help(format!("numbers are decimal, up to {}", i32::MAX)));
            TokenKind::Number(0)
        }
    }
}
