//! Tokens of languages with the lexical form of C: names, keywords, numbers of 32 bits, operators, comments. A language
//! gives its words and signs ([`Lexicon`]).

use std::rc::Rc;

use quotient_ir::{Diagnostic, Span};

/// A token and its location.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A word that is not reserved.
    Name(Rc<str>),
    /// A reserved word.
    Keyword(&'static str),
    /// A number.
    Number(i64),
    /// A text in quotes, without them.
    Text(Rc<str>),
    /// An operator or bracket.
    Symbol(&'static str),
    /// Something unreadable, already reported.
    Unknown,
    /// The end of the text.
    End,
}

impl Token {
    /// Whether it is a given keyword, operator or bracket.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Symbol(it) | TokenKind::Keyword(it) if it == text)
    }

    /// Its description in messages.
    pub fn describe(&self) -> String {
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

/// The words and signs of a language.
#[derive(Debug)]
pub struct Lexicon {
    /// The name of the language in messages.
    pub language: &'static str,
    /// Reserved words.
    pub keywords: &'static [&'static str],
    /// Operators and brackets, longer ones first: the first that fits is taken.
    pub symbols: &'static [&'static str],
    /// What can be in a word besides letters and digits.
    pub word_signs: &'static [u8],
    /// Whether there are texts in quotes.
    pub has_texts: bool,
    /// Whether byte order marks are skipped.
    pub skips_byte_order_marks: bool,
}

impl Lexicon {
    /// Splits a text into tokens; the last is [`TokenKind::End`].
    pub fn tokenize(&self, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
        let bytes = text.as_bytes();
        let mut tokens = Vec::new();
        let mut position = 0;
        while position < bytes.len() {
            let start = position;
            let byte = bytes[position];
            let rest = &bytes[position..];
            let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || self.word_signs.contains(byte);
            let word_length = || rest.iter().take_while(|byte| is_in_word(byte)).count();
            let kind = if byte.is_ascii_whitespace() || byte == 0x0b {
                position += 1;
                continue;
            } else if self.skips_byte_order_marks && rest.starts_with("\u{feff}".as_bytes()) {
                position += 3;
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
            } else if self.has_texts && byte == b'"' {
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
            } else if is_in_word(&byte) {
                position += word_length();
                let word = &text[start..position];
                match self.keywords.iter().find(|keyword| **keyword == word) {
                    Some(keyword) => TokenKind::Keyword(keyword),
                    None => TokenKind::Name(word.into()),
                }
            } else if let Some(symbol) = self.symbols.iter().find(|symbol| rest.starts_with(symbol.as_bytes())) {
                position += symbol.len();
                TokenKind::Symbol(symbol)
            } else {
                let character = text[position..].chars().next().unwrap_or(' ');
                position += character.len_utf8();
                let span = Span::new(start, position);
                // One message for a run of them.
                let follows_another = |last: &Token| last.kind == TokenKind::Unknown && last.span.end == span.start;
                if !tokens.last().is_some_and(follows_another) {
                    let message = format!("`{}` is not part of {}", character.escape_default(), self.language);
                    diagnostics.push(Diagnostic::error("unknown-character", message, span));
                }
                TokenKind::Unknown
            };
            tokens.push(Token { kind, span: Span::new(start, position) });
        }
        tokens.push(Token { kind: TokenKind::End, span: Span::new(text.len(), text.len()) });
        tokens
    }
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
