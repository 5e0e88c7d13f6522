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
    /// A text in quotes, without them.
    Text(Rc<str>),
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
            TokenKind::Text(text) => format!("\"{text}\""),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
            TokenKind::Unknown => "an unknown character".into(),
            TokenKind::End => "the end of the text".into(),
        }
    }
}

/// Reserved words. Words that only occur behind `#` or in assertions are names elsewhere.
pub(crate) const KEYWORDS: &[&str] = &[
    "Skip",
    "Stop",
    "atomic",
    "case",
    "channel",
    "default",
    "else",
    "enum",
    "false",
    "hvar",
    "if",
    "ifa",
    "ifb",
    "interrupt",
    "tau",
    "true",
    "var",
    "while",
];

/// Longer ones first: the first that fits is taken.
const SYMBOLS: &[&str] = &[
    "<->", "|||", "[*]", "->", "==", "!=", "<=", ">=", "<>", "&&", "||", "|=", "++", "--", "+=", "-=", "*=", "/=",
    "%=", "..", "/\\", "\\/", "[]", "{", "}", "(", ")", "[", "]", ";", ",", ".", "?", "!", "=", "<", ">", "+", "-",
    "*", "/", "%", "&", "|", "^", "~", ":", "\\", "#", "@", "$",
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
        let word_length = || rest.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
        let kind = if byte.is_ascii_whitespace() || byte == 0x0b || rest.starts_with("\u{feff}".as_bytes()) {
            position += if byte == 0xef { 3 } else { 1 };
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
        } else if byte == b'"' {
            let line = text[position + 1..].find('\n').unwrap_or(rest.len() - 1);
            match text[position + 1..position + 1 + line].find('"') {
                Some(length) => {
                    position += length + 2;
                    TokenKind::Text(text[start + 1..position - 1].into())
                }
                None => {
                    position += 1 + line;
                    let span = Span::new(start, start + 1);
                    let error = Diagnostic::error("unterminated-text", "this text does not end on its line", span);
                    diagnostics.push(error.with_help("close it with `\"`"));
                    TokenKind::Unknown
                }
            }
        } else if byte.is_ascii_digit() {
            position += word_length();
            number(&text[start..position], Span::new(start, position), diagnostics)
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
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
                diagnostics.push(Diagnostic::error(
                    "unknown-character",
                    format!("`{shown}` is not part of CSP#"),
                    span,
                ));
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
