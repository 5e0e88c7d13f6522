//! A recursive-descent parser that continues after an error with the next item.

mod assertions;
mod declarations;
mod expressions;
mod processes;
mod statements;

use std::ops::{Deref, DerefMut};

use quotient_ir::{Diagnostic, Span};
pub(super) use quotient_kit::cursor::{Cursor, Parsed, Unreadable};
use quotient_kit::tokens::{Token, TokenKind};

use super::tree::{Name, Specification};

/// The deepest nesting: the number of prefixes and operators above each other, brackets counting [`BRACKET`] times.
const DEPTH_LIMIT: usize = 800;

/// What brackets count: reading one takes as much of the stack as reading this many prefixes.
const BRACKET: usize = 8;

pub(super) struct Parser<'t> {
    cursor: Cursor<'t>,
    depth: usize,
}

impl<'t> Deref for Parser<'t> {
    type Target = Cursor<'t>;

    fn deref(&self) -> &Self::Target {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

/// Parses a text, which ends with [`TokenKind::End`].
pub(super) fn parse(tokens: &[Token], diagnostics: &mut Vec<Diagnostic>) -> Specification {
    let mut parser = Parser { cursor: Cursor::new(tokens, diagnostics), depth: 0 };
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
    /// The location of the token before.
    fn before(&self) -> Span {
        self.last().map_or(Span::default(), |last| last.span)
    }

    /// Whether a name that is not reserved is next.
    fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Name(name) if &**name == word)
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

    /// Enters a nested construct. Whoever calls this restores the depth.
    fn deeper(&mut self, levels: usize) -> Parsed<()> {
        self.depth += levels;
        if self.depth <= DEPTH_LIMIT {
            return Ok(());
        }
        let error = Diagnostic::error("too-deep", "this is nested too deeply", self.peek().span);
        self.report(error.with_help("give a name to an inner process"));
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
        let is_behind_separator = self.last().is_none_or(|last| last.is(";"));
        (token.is("hvar") || token.is("channel") || token.is("enum") || token.is("var")) && is_behind_separator
            || self.at_definition()
    }

    /// Whether a definition begins here: `P =` or `P(i, j) =`.
    fn at_definition(&self) -> bool {
        if !matches!(self.peek().kind, TokenKind::Name(_)) {
            return false;
        }
        if self.ahead(1).is("=") {
            return self.last().is_none_or(|last| !last.is("{"));
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
