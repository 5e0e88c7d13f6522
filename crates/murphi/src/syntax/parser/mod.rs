//! The parser: recursive descent, with precedence climbing for expressions. This module owns the cursor over the
//! tokens, the messages and the recovery; each of the others owns a part of the grammar.
//!
//! A function that fails has reported the error and returns [`Reported`]; the caller that knows where to resume skips
//! to that position and puts [`Missing`](super::tree::ExprKind::Missing) into the tree.

mod declarations;
mod expressions;
mod formulas;
mod hints;
mod rules;
mod statements;

use quotient_ir::{Diagnostic, Span};
use quotient_kit::MAXIMUM_ERRORS;

use super::MAXIMUM_NESTING;
use super::lexer::shorten;
use super::token::{Token, TokenKind};
use super::tree::{Name, Text, Tree};

/// How many nodes the names of shared declarations may copy: `a, b: T` has `T` twice in the tree,
/// which nested records could otherwise make exponential.
const MAXIMUM_COPIES: u64 = 1 << 20;

/// Parses tokens, the last of which is the end of the file.
pub(super) fn parse(text: &str, tokens: Vec<Token>) -> Output {
    let mut parser = Parser {
        text,
        tokens,
        position: 0,
        errors: Vec::new(),
        warnings: Vec::new(),
        last_error: None,
        stopped: false,
        depth: 0,
        open: Vec::new(),
        after_misplaced: false,
        nodes: 0,
        copies: 0,
        shadowed: Vec::new(),
        declares_undefined: false,
        uses_undefined: false,
        is_for_cmurphi: false,
        else_if: None,
        brace: false,
        formulas: Vec::new(),
        limit: None,
    };
    let tree = parser.model();
    Output { tree, errors: parser.errors, warnings: parser.warnings, formulas: parser.formulas }
}

/// What comes of parsing.
pub(super) struct Output {
    pub(super) tree: Tree,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Where temporal formulas are: their operators need not be tokens of Murphi.
    pub(super) formulas: Vec<Span>,
}

/// The error is reported already.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

/// A part of the tree and how many levels it has.
struct Tall<T> {
    node: T,
    height: u32,
}

/// A construct that is closed by `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Construct {
    /// Its name in messages.
    name: &'static str,
    /// The variants of `end` that close it, the preferred one first.
    ends: &'static [TokenKind],
}

impl Construct {
    const ALIAS: Self = Self { name: "alias", ends: &[TokenKind::EndAlias] };
    const EXISTS: Self = Self { name: "exists", ends: &[TokenKind::EndExists] };
    const FOR: Self = Self { name: "for", ends: &[TokenKind::EndFor] };
    const FORALL: Self = Self { name: "forall", ends: &[TokenKind::EndForall] };
    const FUNCTION: Self = Self { name: "function", ends: &[TokenKind::EndFunction, TokenKind::EndProcedure] };
    const PROCEDURE: Self = Self { name: "procedure", ends: &[TokenKind::EndProcedure, TokenKind::EndFunction] };
    const IF: Self = Self { name: "if", ends: &[TokenKind::EndIf] };
    const RECORD: Self = Self { name: "record", ends: &[TokenKind::EndRecord] };
    const RULE: Self = Self { name: "rule", ends: &[TokenKind::EndRule] };
    const RULESET: Self = Self { name: "ruleset", ends: &[TokenKind::EndRuleset] };
    const CHOOSE: Self = Self { name: "choose", ends: &[] };
    const STARTSTATE: Self = Self { name: "startstate", ends: &[TokenKind::EndStartstate] };
    const SWITCH: Self = Self { name: "switch", ends: &[TokenKind::EndSwitch] };
    const WHILE: Self = Self { name: "while", ends: &[TokenKind::EndWhile] };

    fn is_closed_by(self, kind: TokenKind) -> bool {
        kind == TokenKind::End || self.ends.contains(&kind)
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    position: usize,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// The token of the last error: a second error there would only repeat the first.
    last_error: Option<usize>,
    /// Set when parsing cannot continue; every token then reads as the end of the file.
    stopped: bool,
    depth: u32,
    /// The constructs that wait for their `end`, and where they start.
    open: Vec<(Construct, Span)>,
    /// Whether declarations among statements were just read and reported: if what follows is not a statement either,
    /// the `end` before them was missing, which needs no second report.
    after_misplaced: bool,
    /// Nodes of types and expressions built so far.
    nodes: u64,
    copies: u64,
    /// Words with a meaning to the parser that this model declares as functions of its own.
    shadowed: Vec<&'static str>,
    /// Whether this model declares a name `undefined` of its own.
    declares_undefined: bool,
    /// Whether that word meant no value so far.
    uses_undefined: bool,
    /// Whether there was something so far that only CMurphi reads.
    is_for_cmurphi: bool,
    /// The last `else if` of this item: it needs two `end`s, and one is often forgotten.
    else_if: Option<Span>,
    /// Whether a brace among statements was reported; the matching one belongs to it.
    brace: bool,
    /// Where temporal formulas are.
    formulas: Vec<Span>,
    /// Where the condition of a formula ends that is being read.
    limit: Option<u32>,
}

impl Parser<'_> {
    // The cursor.

    fn token(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        let at = if self.stopped { last } else { (self.position + ahead).min(last) };
        self.tokens[at]
    }

    fn kind(&self) -> TokenKind {
        self.token(0).kind
    }

    fn next_kind(&self) -> TokenKind {
        self.token(1).kind
    }

    fn span(&self) -> Span {
        self.token(0).span
    }

    /// The position of the last consumed token.
    fn previous_span(&self) -> Span {
        self.tokens[self.position.saturating_sub(1)].span
    }

    /// From a start to the last consumed token.
    fn since(&self, start: Span) -> Span {
        if self.previous_span().start < start.start { start } else { start.to(self.previous_span()) }
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.range()]
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    fn advance(&mut self) -> Token {
        let token = self.token(0);
        if token.kind != TokenKind::EndOfFile {
            self.position += 1;
        }
        token
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind) -> Parsed<Token> {
        if self.at(kind) { Ok(self.advance()) } else { Err(self.expected(kind.shown())) }
    }

    /// Whether a token is this word, which is a keyword only in this context.
    fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.token(ahead);
        token.kind == TokenKind::Identifier && self.slice(token.span).eq_ignore_ascii_case(word)
    }

    /// Whether the current token begins a call of one of CMurphi's operations.
    fn at_operation(&self, word: &'static str) -> bool {
        self.next_kind() == TokenKind::LeftParenthesis && self.is_word(0, word) && !self.shadowed.contains(&word)
    }

    // Messages.

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.stopped {
            return Reported;
        }
        self.last_error = Some(self.position);
        self.errors.push(diagnostic);
        if self.errors.len() > MAXIMUM_ERRORS {
            self.stopped = true;
        }
        Reported
    }

    /// Reports that something else is expected here.
    fn expected(&mut self, what: &str) -> Reported {
        self.expected_with(what, |diagnostic| diagnostic)
    }

    /// The same, with more details. A hint given there takes precedence over the general ones.
    fn expected_with(&mut self, what: &str, more: impl FnOnce(Diagnostic) -> Diagnostic) -> Reported {
        if self.is_reported_here() {
            return Reported;
        }
        let message = format!("expected {what}, found {}", self.found());
        let diagnostic = more(Diagnostic::error("syntax", message, self.span()).with_label(format!("expected {what}")));
        let help = diagnostic.help.clone().or_else(|| self.hint());
        self.report(Diagnostic { help, ..diagnostic })
    }

    /// Whether an error here would only repeat another one: the lexer reports unknown characters
    /// and unclosed strings (which swallow what should follow them), and one error a token is enough.
    fn is_reported_here(&self) -> bool {
        self.stopped
            || self.at(TokenKind::Unknown)
            || self.follows_broken_text()
            || self.last_error == Some(self.position)
    }

    fn follows_broken_text(&self) -> bool {
        self.position.checked_sub(1).is_some_and(|at| self.tokens[at].kind == TokenKind::BrokenText)
    }

    /// The current token, for a message.
    fn found(&self) -> String {
        let token = self.token(0);
        match token.kind {
            TokenKind::EndOfFile | TokenKind::Text | TokenKind::BrokenText | TokenKind::Unknown => {
                token.kind.shown().to_owned()
            }
            kind if kind.is_keyword() => format!("the keyword {}", kind.shown()),
            _ => format!("`{}`", shorten(self.slice(token.span))),
        }
    }

    /// Ends the parse after an error that makes the rest of the file meaningless or too costly.
    fn stop(&mut self, diagnostic: Diagnostic) -> Reported {
        self.report(diagnostic);
        self.stopped = true;
        Reported
    }

    // Nesting.

    /// Runs a part of the grammar one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.check_height(1)?;
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Refuses a tree of this many levels here.
    fn check_height(&mut self, height: u32) -> Parsed<()> {
        if self.depth + height <= MAXIMUM_NESTING {
            return Ok(());
        }
        let message = format!("the model is nested more than {MAXIMUM_NESTING} levels deep");
        let diagnostic = Diagnostic::error("too-deeply-nested", message, self.span());
        Err(self.stop(diagnostic.with_label("the file is not checked from here on")))
    }

    /// Accounts for copies of what was parsed since `nodes` was its present value.
    fn check_copies(&mut self, copies: usize, nodes_before: u64) -> Parsed<()> {
        let nodes = (self.nodes - nodes_before).saturating_mul(copies as u64);
        if nodes <= MAXIMUM_COPIES - self.copies {
            self.nodes += nodes;
            self.copies += nodes;
            return Ok(());
        }
        let message = "too many names share large declarations";
        let diagnostic = Diagnostic::error("too-many-copies", message, self.previous_span());
        Err(self.stop(diagnostic.with_help("give the type a name of its own in a `type` section")))
    }

    // Small parts.

    /// A name that is declared or used. A keyword in its place is reported as such and taken.
    fn name(&mut self) -> Parsed<Name> {
        let token = self.token(0);
        if token.kind == TokenKind::Identifier {
            self.advance();
            return Ok(self.name_of(token));
        }
        if self.at_keyword_as_name() || self.at_keyword_as_operand() {
            self.report_keyword_as_name();
            self.advance();
            return Ok(self.name_of(token));
        }
        Err(self.expected(TokenKind::Identifier.shown()))
    }

    /// A name that is declared here.
    fn declared_name(&mut self) -> Parsed<Name> {
        let name = self.name()?;
        self.declares_undefined |= name.text.eq_ignore_ascii_case("undefined");
        Ok(name)
    }

    fn name_of(&self, token: Token) -> Name {
        let text = self.slice(token.span);
        // These two are read in any case, like keywords, though they are names.
        let text = ["true", "false"].into_iter().find(|word| text.eq_ignore_ascii_case(word)).unwrap_or(text);
        Name { text: text.to_owned(), span: token.span }
    }

    /// Whether a keyword occurs where only a name makes sense, judging by what follows.
    fn at_keyword_as_name(&self) -> bool {
        self.kind().is_keyword()
            && !self.kind().starts_declarations()
            && matches!(
                self.next_kind(),
                TokenKind::Colon | TokenKind::Comma | TokenKind::Assign | TokenKind::RightBrace
            )
    }

    /// The same for a name inside an expression.
    fn at_keyword_as_operand(&self) -> bool {
        let kind = self.kind();
        (kind.starts_keyword_statement() || kind.starts_top_level() || matches!(kind, TokenKind::To | TokenKind::By))
            && matches!(
                self.next_kind(),
                TokenKind::RightBracket | TokenKind::RightParenthesis | TokenKind::Dot | TokenKind::LeftBracket
            )
    }

    /// Whether a keyword is assigned to, so that it is meant as a name.
    fn at_assigned_keyword(&self) -> bool {
        self.kind().is_keyword() && self.next_kind() == TokenKind::Assign
    }

    fn report_keyword_as_name(&mut self) {
        if self.is_reported_here() {
            return;
        }
        let word = self.slice(self.span()).to_owned();
        self.report(
            Diagnostic::error("keyword-as-name", format!("`{word}` is a keyword, so it cannot be a name"), self.span())
                .with_help(format!("choose another name, such as `{word}_`")),
        );
    }

    fn text(&mut self) -> Option<Text> {
        let token = self.token(0);
        if !matches!(token.kind, TokenKind::Text | TokenKind::BrokenText) {
            return None;
        }
        self.advance();
        let quoted = self.slice(token.span);
        let inner = quoted.strip_prefix('"').or_else(|| quoted.strip_prefix('“')).unwrap_or(quoted);
        let inner = inner.strip_suffix('"').or_else(|| inner.strip_suffix('”')).unwrap_or(inner);
        Some(Text { text: inner.to_owned(), span: token.span })
    }

    fn semicolons(&mut self) -> bool {
        let found = self.at(TokenKind::Semicolon);
        while self.eat(TokenKind::Semicolon) {}
        found
    }

    // Constructs and recovery.

    fn open(&mut self, construct: Construct, span: Span) {
        self.open.push((construct, span));
    }

    /// Reads the `end` of the innermost construct. What is missing is reported and taken as read.
    fn close(&mut self) {
        let Some((construct, span)) = self.open.pop() else { return };
        let kind = self.kind();
        if construct.is_closed_by(kind) || (construct == Construct::CHOOSE && self.is_word(0, "endchoose")) {
            self.advance();
            self.after_misplaced = false;
            return;
        }
        if !self.after_misplaced {
            let else_if = self.else_if;
            let what = match construct.ends.first() {
                Some(end) => format!("`end` or {}", end.shown()),
                None => "`end`".to_owned(),
            };
            self.expected_with(&what, |diagnostic| {
                let diagnostic = diagnostic.with_secondary(span, format!("this `{}` is not closed", construct.name));
                match else_if {
                    _ if kind.is_end() => diagnostic,
                    Some(else_if) => diagnostic
                        .with_secondary(else_if, "this `if` needs an `end` of its own")
                        .with_help("a further condition is written `elsif`, and needs no further `end`"),
                    None => diagnostic.with_help(format!("an `end` is missing before {}", kind.shown())),
                }
            });
        }
        // The end of an enclosing construct is left to it; any other one is a slip for this one.
        let closes_another = kind.is_end() && self.open.iter().any(|(outer, _)| outer.ends.contains(&kind));
        if kind.is_end() && !closes_another {
            self.advance();
        }
    }

    /// Skips tokens until one of a kind, or one where the part that failed must be over.
    fn skip_until(&mut self, stop: impl Fn(TokenKind) -> bool) {
        loop {
            let kind = self.kind();
            if stop(kind) || kind == TokenKind::EndOfFile || kind.starts_top_level() || kind.starts_declarations() {
                return;
            }
            self.advance();
        }
    }
}
