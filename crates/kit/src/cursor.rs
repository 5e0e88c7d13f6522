//! The place of a parser in a list of tokens, and its errors.

use quotient_ir::{Diagnostic, Span};

use crate::tokens::{Token, TokenKind};

/// The maximum number of errors reported.
const ERROR_LIMIT: usize = 100;

/// Why a construct could not be read; the diagnostic is already there.
#[derive(Clone, Copy, Debug)]
pub struct Unreadable;

/// What was read, if it could be.
pub type Parsed<T> = Result<T, Unreadable>;

/// A place in a list of tokens that ends with [`TokenKind::End`].
#[derive(Debug)]
pub struct Cursor<'t> {
    tokens: &'t [Token],
    /// The number of the next token.
    pub position: usize,
    diagnostics: &'t mut Vec<Diagnostic>,
    errors: usize,
}

impl<'t> Cursor<'t> {
    /// At the first token.
    pub fn new(tokens: &'t [Token], diagnostics: &'t mut Vec<Diagnostic>) -> Self {
        Self { tokens, position: 0, diagnostics, errors: 0 }
    }

    /// The next token.
    pub fn peek(&self) -> &'t Token {
        self.ahead(0)
    }

    /// A token further on.
    pub fn ahead(&self, distance: usize) -> &'t Token {
        &self.tokens[(self.position + distance).min(self.tokens.len() - 1)]
    }

    /// The token before; none at the beginning.
    pub fn last(&self) -> Option<&'t Token> {
        self.position.checked_sub(1).map(|before| &self.tokens[before])
    }

    /// Whether all tokens were read.
    pub fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// Skips a token; its location.
    pub fn advance(&mut self) -> Span {
        let span = self.peek().span;
        if !self.at_end() {
            self.position += 1;
        }
        span
    }

    /// Skips a given token, if it is next.
    pub fn take(&mut self, text: &str) -> bool {
        let found = self.peek().is(text);
        if found {
            self.advance();
        }
        found
    }

    /// Skips a given token, which must be next; its location.
    ///
    /// # Errors
    /// If another one is next.
    pub fn expect(&mut self, text: &str, purpose: &str) -> Parsed<Span> {
        let token = self.peek();
        if token.is(text) {
            return Ok(self.advance());
        }
        let message = format!("`{text}` is expected {purpose}, not {}", token.describe());
        let mut error = Diagnostic::error("syntax", message, token.span);
        if let Some(last) = self.last()
            && matches!(text, ";" | "," | ")" | "]" | "}")
        {
            error = error.with_secondary(last.span, "after this");
        }
        self.report(error);
        Err(Unreadable)
    }

    /// Adds a diagnostic, unless there are too many errors.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.is_error());
        if self.errors <= ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
        }
    }
}
