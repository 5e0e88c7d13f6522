//! The parser: recursive descent, with precedence climbing for formulas. This module owns the cursor over the tokens,
//! the messages and the recovery; each of the others owns a part of the grammar.
//!
//! A function that fails has reported the error and returns [`Reported`]; the caller that knows where to resume skips
//! to that position.

mod clauses;
mod formulas;
mod substitutions;

use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};
use quotient_kit::MAXIMUM_ERRORS;

use super::MAXIMUM_HEIGHT;
use super::token::{CLAUSES, Token, TokenKind};
use super::tree::{Formula, Machine, Name};

/// How deep the parser nests. Each level takes several functions, so this is far below the height
/// that chains of operators may give a tree.
const MAXIMUM_NESTING: u32 = 200;

/// Parses tokens, the last of which is the end of the file.
pub(super) fn parse(text: &str, tokens: Vec<Token>) -> (Machine, Vec<Diagnostic>) {
    let mut parser = Parser::new(text, tokens);
    let machine = parser.machine();
    (machine, parser.errors)
}

/// Parses the tokens of a single formula.
pub(super) fn parse_formula(text: &str, tokens: Vec<Token>) -> (Option<Formula>, Vec<Diagnostic>) {
    let mut parser = Parser::new(text, tokens);
    let formula = parser.formula();
    if formula.is_ok() && parser.kind() != TokenKind::EndOfFile {
        let _: Parsed<()> = parser.unexpected("the end of the formula");
    }
    (formula.ok(), parser.errors)
}

/// The error is reported already.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    position: usize,
    errors: Vec<Diagnostic>,
    /// The token of the last error: a second error there would only repeat the first.
    last_error: Option<usize>,
    /// Set when parsing cannot continue; every token then reads as the end of the file.
    stopped: bool,
    depth: u32,
    /// The height of the formula that was parsed last.
    height: u32,
    /// Whether `;` and `||` are operators on relations here.
    in_parentheses: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        Self {
            text,
            tokens,
            position: 0,
            errors: Vec::new(),
            last_error: None,
            stopped: false,
            depth: 0,
            height: 0,
            in_parentheses: false,
        }
    }
}

impl Parser<'_> {
    fn token(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        let at = if self.stopped { last } else { (self.position + ahead).min(last) };
        self.tokens[at]
    }

    fn kind(&self) -> TokenKind {
        self.token(0).kind
    }

    fn span(&self) -> Span {
        self.token(0).span
    }

    /// The position of the last consumed token.
    fn previous(&self) -> Span {
        self.tokens[self.position.saturating_sub(1).min(self.tokens.len() - 1)].span
    }

    fn advance(&mut self) -> Token {
        let token = self.token(0);
        if self.position < self.tokens.len() - 1 {
            self.position += 1;
        }
        token
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.kind(), TokenKind::Sign(it) if it == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), TokenKind::Word(it) if it == word)
    }

    fn accept_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect_sign(&mut self, sign: &str, why: &str) -> Parsed<()> {
        if self.accept_sign(sign) { Ok(()) } else { self.unexpected(&format!("`{sign}` {why}")) }
    }

    fn expect_word(&mut self, word: &str, why: &str) -> Parsed<()> {
        if self.accept_word(word) { Ok(()) } else { self.unexpected(&format!("`{word}` {why}")) }
    }

    /// The `END` of a construct that starts at `start`.
    fn expect_end(&mut self, construct: &str, start: Span) -> Parsed<()> {
        if self.accept_word("END") {
            return Ok(());
        }
        let found = self.describe(self.token(0));
        let diagnostic =
            Diagnostic::error("syntax", format!("expected `END` of `{construct}`, found {found}"), self.span())
                .with_secondary(start, format!("`{construct}` starts here"))
                .with_help(format!("close `{construct}` with `END`"));
        self.report(diagnostic)
    }

    fn at_clause(&self) -> bool {
        match self.kind() {
            TokenKind::EndOfFile => true,
            TokenKind::Word(word) => CLAUSES.contains(&word),
            _ => false,
        }
    }

    fn text_of(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token(0);
        if token.kind == TokenKind::Identifier {
            self.advance();
            return Ok(Name { text: Arc::from(self.text_of(token.span)), span: token.span });
        }
        if let TokenKind::Word(word) = token.kind {
            let diagnostic =
                Diagnostic::error("syntax", format!("expected {what}, found the reserved word `{word}`"), token.span)
                    .with_help("choose another name");
            return self.report(diagnostic);
        }
        self.unexpected(what)
    }

    /// Names separated by commas.
    fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.accept_sign(",") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::EndOfFile => "the end of the file".into(),
            _ => {
                let text = self.text_of(token.span);
                let short: String = text.chars().take(30).collect();
                if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
            }
        }
    }

    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let token = self.token(0);
        let found = self.describe(token);
        let diagnostic = Diagnostic::error("syntax", format!("expected {expected}, found {found}"), token.span);
        self.report(diagnostic)
    }

    fn report<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        // The lexer has already reported a character that starts no token.
        let known = self.kind() == TokenKind::Unknown && !self.stopped;
        if !known && self.last_error != Some(self.position) && !self.stopped {
            self.errors.push(diagnostic);
        }
        self.last_error = Some(self.position);
        if self.errors.len() > MAXIMUM_ERRORS {
            self.stopped = true;
        }
        Err(Reported)
    }

    /// Runs nested work, unless it is nested too deep.
    fn nested<T>(&mut self, work: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAXIMUM_NESTING {
            return self.too_deep();
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    fn too_deep<T>(&mut self) -> Parsed<T> {
        let diagnostic = Diagnostic::error("too-deep", "the text is nested too deeply", self.span())
            .with_label("the file is not checked from here on")
            .with_help("split the formula with definitions");
        let result = self.report(diagnostic);
        self.stopped = true;
        result
    }

    /// Notes the height of a new node over parts of the given height.
    fn grow(&mut self, height: u32) -> Parsed<()> {
        self.height = height + 1;
        if self.height > MAXIMUM_HEIGHT { self.too_deep() } else { Ok(()) }
    }
}
