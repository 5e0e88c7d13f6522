//! Tokens and the lexer. One lexer serves the preprocessor and the parser, since the preprocessor uses the same tokens.

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};

/// A token and its position in the text (the use of the macro, if it comes from one).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
    /// Where it is written itself: in the definition of a macro or in an argument, if it comes from one. Nowhere, if it
    /// was put together.
    pub(crate) written: Span,
    /// Whether it is the first of its line, which makes a `#` a directive.
    pub(crate) starts_line: bool,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A name or keyword.
    Name(Rc<str>),
    /// A number or character.
    Number(i64),
    /// A string, without its quotes.
    Text(Rc<str>),
    /// An operator or bracket.
    Symbol(&'static str),
    /// An invalid token; reported where it was found.
    Unknown,
    /// The end of the text.
    End,
}

impl Token {
    /// Whether it is a given operator or bracket.
    pub(crate) fn is(&self, symbol: &str) -> bool {
        matches!(self.kind, TokenKind::Symbol(it) if it == symbol)
    }
    /// Whether it is a given name or keyword.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        matches!(&self.kind, TokenKind::Name(it) if &**it == name)
    }
    /// Its description in messages.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Number(number) => format!("`{number}`"),
            TokenKind::Text(_) => "a string".into(),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
            TokenKind::Unknown => "an unknown character".into(),
            TokenKind::End => "the end of the text".into(),
        }
    }
}

/// Longer ones first: the first that fits is taken.
const SYMBOLS: &[&str] = &[
    "<->", "...", "::", "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "++", "--", "..", "!!", "??", "##", "<>",
    "/\\", "\\/", "{", "}", "(", ")", "[", "]", ";", ",", ":", ".", "?", "!", "=", "<", ">", "+", "-", "*", "/", "%",
    "&", "|", "^", "~", "@", "#",
];

/// Splits a text into tokens; the last is [`TokenKind::End`]. Errors in a token are reported at its start.
pub(crate) fn tokenize(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut position = 0;
    let mut starts_line = true;
    while position < bytes.len() {
        let start = position;
        let byte = bytes[position];
        let kind = match byte {
            b'\n' => {
                starts_line = true;
                position += 1;
                continue;
            }
            b'\\' if line_continues(bytes, position) => {
                position += if bytes[position + 1] == b'\r' { 3 } else { 2 };
                continue;
            }
            _ if byte.is_ascii_whitespace() || byte == 0x0b => {
                position += 1;
                continue;
            }
            b'/' if bytes[position..].starts_with(b"/*") => {
                match text[position + 2..].find("*/") {
                    Some(length) => {
                        starts_line |= text[position..position + 2 + length].contains('\n');
                        position += length + 4;
                    }
                    None => {
                        let span = Span::new(start, start + 2);
                        diagnostics.push(
                            Diagnostic::error("unterminated-comment", "this comment does not end", span)
                                .with_help("close it with `*/`"),
                        );
                        position = bytes.len();
                    }
                }
                continue;
            }
            b'/' if bytes[position..].starts_with(b"//") => {
                position += text[position..].find('\n').unwrap_or(text.len() - position);
                continue;
            }
            b'"' => {
                let end = string_end(bytes, position);
                match end {
                    Some(end) => {
                        position = end + 1;
                        TokenKind::Text(text[start + 1..end].into())
                    }
                    None => {
                        let line = text[position..].find('\n').unwrap_or(text.len() - position);
                        position += line;
                        diagnostics.push(Diagnostic::error(
                            "unterminated-string",
                            "this string does not end on its line",
                            Span::new(start, position),
                        ));
                        TokenKind::Text(text[start + 1..position].into())
                    }
                }
            }
            b'\'' => {
                let (value, length) = character(&bytes[position..]);
                position += length;
                match value {
                    Some(value) => TokenKind::Number(value),
                    None => {
                        diagnostics.push(Diagnostic::error(
                            "bad-character",
                            "this is not a character constant",
                            Span::new(start, position),
                        ));
                        TokenKind::Unknown
                    }
                }
            }
            _ if byte.is_ascii_digit() => {
                while position < bytes.len() && (bytes[position].is_ascii_alphanumeric() || bytes[position] == b'_') {
                    position += 1;
                }
                match text[start..position].parse::<i64>() {
                    Ok(value) if value <= i64::from(u32::MAX) => TokenKind::Number(value),
                    _ => {
                        let message = format!("`{}` is not a number that fits a variable", &text[start..position]);
                        diagnostics.push(
                            Diagnostic::error("bad-number", message, Span::new(start, position))
                                .with_help("numbers are decimal, up to 4294967295"),
                        );
                        // It is still meaningful in the condition of an `#if`.
                        TokenKind::Number(number_of_preprocessor(&text[start..position]))
                    }
                }
            }
            _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                while position < bytes.len() && (bytes[position].is_ascii_alphanumeric() || bytes[position] == b'_') {
                    position += 1;
                }
                TokenKind::Name(text[start..position].into())
            }
            _ => match SYMBOLS.iter().find(|symbol| bytes[position..].starts_with(symbol.as_bytes())) {
                Some(symbol) => {
                    position += symbol.len();
                    TokenKind::Symbol(symbol)
                }
                None => {
                    let character = text[position..].chars().next().unwrap_or(' ');
                    position += character.len_utf8();
                    TokenKind::Unknown
                }
            },
        };
        let span = Span::new(start, position);
        tokens.push(Token { kind, span, written: span, starts_line });
        starts_line = false;
    }
    let end = Span::new(text.len(), text.len());
    tokens.push(Token { kind: TokenKind::End, span: end, written: end, starts_line: true });
    tokens
}

fn line_continues(bytes: &[u8], position: usize) -> bool {
    matches!(bytes.get(position + 1), Some(b'\n')) || bytes[position + 1..].starts_with(b"\r\n")
}

/// The position of the closing quote of a string that starts here.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut position = start + 1;
    while position < bytes.len() {
        match bytes[position] {
            b'"' => return Some(position),
            b'\\' if line_continues(bytes, position) => position += 2,
            b'\\' => position += 2,
            b'\n' => return None,
            _ => position += 1,
        }
    }
    None
}

/// The value of a number as C writes it: with a base, with a suffix.
fn number_of_preprocessor(text: &str) -> i64 {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => i64::from_str_radix(&text[2..], 16),
        [b'0', _, ..] => i64::from_str_radix(&text[1..], 8),
        _ => text.parse(),
    };
    value.unwrap_or(0)
}

/// The value of a character constant and its length. As in SPIN, `'\0'` is the digit.
fn character(bytes: &[u8]) -> (Option<i64>, usize) {
    match bytes {
        [b'\'', b'\\', escape, b'\'', ..] => {
            let value = match escape {
                b'n' => 10,
                b't' => 9,
                b'r' => 13,
                b'f' => 12,
                other => i64::from(*other),
            };
            (Some(value), 4)
        }
        [b'\'', plain, b'\'', ..] if plain.is_ascii() && !matches!(plain, b'\'' | b'\n') => {
            (Some(i64::from(*plain)), 3)
        }
        _ => (None, 1),
    }
}
