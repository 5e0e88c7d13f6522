//! A recursive-descent parser that continues after an error with the next item.

mod assertions;
mod declarations;
mod expressions;
mod processes;
mod statements;

use quotient_ir::{Diagnostic, Span};

use super::token::{Token, TokenKind};
use super::tree::{Name, Specification};

/// The maximum number of errors reported.
const ERROR_LIMIT: usize = 100;

/// The deepest nesting: the number of prefixes and operators above each other, brackets counting [`BRACKET`] times.
const DEPTH_LIMIT: usize = 800;

/// What brackets count: reading one takes as much of the stack as reading this many prefixes.
const BRACKET: usize = 8;

/// Why a construct could not be read; the diagnostic is already there.
pub(super) struct Unreadable;

pub(super) type Parsed<T> = Result<T, Unreadable>;

pub(super) struct Parser<'t> {
    tokens: &'t [Token],
    position: usize,
    diagnostics: &'t mut Vec<Diagnostic>,
    errors: usize,
    depth: usize,
}

/// Parses a text, which ends with [`TokenKind::End`].
pub(super) fn parse(tokens: &[Token], diagnostics: &mut Vec<Diagnostic>) -> Specification {
    let mut parser = Parser { tokens, position: 0, diagnostics, errors: 0, depth: 0 };
    let mut specification = Specification::default();
    while !parser.at_end() {
        let before = parser.position;
        parser.depth = 0;
        if parser.item(&mut specification).is_err() {
            parser.skip_item(before);
        }
    }
    specification
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.ahead(0)
    }

    /// A token further on.
    fn ahead(&self, distance: usize) -> &Token {
        &self.tokens[(self.position + distance).min(self.tokens.len() - 1)]
    }

    fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// Skips a token; its location.
    fn advance(&mut self) -> Span {
        let span = self.peek().span;
        if !self.at_end() {
            self.position += 1;
        }
        span
    }

    /// The location of the token before.
    fn before(&self) -> Span {
        self.position.checked_sub(1).map_or(Span::default(), |before| self.tokens[before].span)
    }

    /// Skips a given token, if it is next.
    fn take(&mut self, text: &str) -> bool {
        let found = self.peek().is(text);
        if found {
            self.advance();
        }
        found
    }

    /// Whether a name that is not reserved is next.
    fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Name(name) if &**name == word)
    }

    fn expect(&mut self, text: &str, purpose: &str) -> Parsed<Span> {
        if self.peek().is(text) {
            return Ok(self.advance());
        }
        let token = self.peek().clone();
        let message = format!("`{text}` is expected {purpose}, not {}", token.describe());
        let mut error = Diagnostic::error("syntax", message, token.span);
        if self.position > 0 && matches!(text, ";" | "," | ")" | "]" | "}") {
            error = error.with_secondary(self.before(), "after this");
        }
        self.report(error);
        Err(Unreadable)
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Name(text) => {
                self.advance();
                Ok(Name { text, span: token.span })
            }
            TokenKind::Keyword(word) => {
                let message = format!("{what} is expected, and `{word}` is a keyword");
                self.report(Diagnostic::error("syntax", message, token.span).with_help("choose another name"));
                Err(Unreadable)
            }
            _ => self.unexpected(what),
        }
    }

    /// Reports that something else is expected here.
    fn unexpected<T>(&mut self, what: &str) -> Parsed<T> {
        let token = self.peek().clone();
        let message = format!("{what} is expected, not {}", token.describe());
        // What the lexer could not read is reported already.
        if token.kind != TokenKind::Unknown {
            self.report(Diagnostic::error("syntax", message, token.span));
        }
        Err(Unreadable)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.is_error());
        if self.errors <= ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Enters a nested construct. Whoever calls this restores the depth.
    fn deeper(&mut self, levels: usize) -> Parsed<()> {
        self.depth += levels;
        if self.depth <= DEPTH_LIMIT {
            return Ok(());
        }
        let message = "this is nested too deeply";
        self.report(
            Diagnostic::error("too-deep", message, self.peek().span).with_help("give a name to an inner process"),
        );
        Err(Unreadable)
    }

    /// Goes behind the item that could not be read: to the next token at which an item begins.
    fn skip_item(&mut self, start: usize) {
        if self.position == start {
            self.advance();
        }
        while !self.at_end() && !self.at_item() {
            self.advance();
        }
    }

    /// Whether an item begins here.
    fn at_item(&self) -> bool {
        let token = self.peek();
        if token.is("#") {
            return matches!(&self.ahead(1).kind, TokenKind::Name(word)
                if matches!(&**word, "define" | "assert" | "alphabet" | "import" | "include" | "invariant" | "ltl"));
        }
        let is_behind_separator = self.position == 0 || self.tokens[self.position - 1].is(";");
        (token.is("hvar") || token.is("channel") || token.is("enum") || token.is("var")) && is_behind_separator
            || self.at_definition()
    }

    /// Whether a definition begins here: `P =` or `P(i, j) =`.
    fn at_definition(&self) -> bool {
        if !matches!(self.peek().kind, TokenKind::Name(_)) {
            return false;
        }
        if self.ahead(1).is("=") {
            return self.position == 0 || !self.tokens[self.position - 1].is("{");
        }
        if !self.ahead(1).is("(") {
            return false;
        }
        let mut distance = 2;
        while matches!(self.ahead(distance).kind, TokenKind::Name(_)) || self.ahead(distance).is(",") {
            distance += 1;
        }
        self.ahead(distance).is(")") && self.ahead(distance + 1).is("=")
    }
}
