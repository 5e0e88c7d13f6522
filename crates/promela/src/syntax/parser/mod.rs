//! A recursive-descent parser that continues after an error: a statement or declaration that cannot be parsed is
//! skipped up to the next separator.

mod declarations;
mod expressions;
mod statements;

use std::rc::Rc;

use quotient_ir::{Diagnostic, Source, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::token::{Token, TokenKind};
use super::tree::{Expression, Name, Specification};

/// The deepest nesting of statements and expressions.
const NESTING_LIMIT: usize = 240;
/// The most operators in a row; each makes the tree one level deeper.
const CHAIN_LIMIT: usize = 500;
/// The maximum number of errors reported.
const ERROR_LIMIT: usize = 100;
/// The most tokens that inlines may make.
const INLINE_LIMIT: usize = 2_000_000;

/// Reserved words, which cannot be names.
pub(crate) const KEYWORDS: &[&str] = &[
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "chan",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "od",
    "of",
    "get_priority",
    "pc_value",
    "pid",
    "priority",
    "printf",
    "printm",
    "proctype",
    "provided",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "D_proctype",
];

/// Why a construct could not be read; the diagnostic is already there.
pub(super) struct Unreadable;

pub(super) type Parsed<T> = Result<T, Unreadable>;

/// The definition of an inline.
#[derive(Clone)]
struct Inline {
    parameters: Vec<Rc<str>>,
    body: Rc<[Token]>,
}

pub(super) struct Parser<'d> {
    source: &'d Source,
    tokens: Rc<[Token]>,
    position: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
    depth: usize,
    errors: usize,
    /// The errors in formulas that could not be read.
    formula_errors: usize,
    inlines: FxHashMap<Rc<str>, Inline>,
    /// The inlines being expanded, outermost first, each with the target of its value.
    open_inlines: Vec<(Rc<str>, Option<Expression>)>,
    inlined_tokens: usize,
    /// The names of process types: `a[i] : x` refers into a process only if `a` is one of them.
    proctypes: FxHashSet<Rc<str>>,
    /// Those declared so far: their names cannot be labels.
    declared: FxHashSet<Rc<str>>,
    in_formula: bool,
    /// Whether the formula being read is not part of the text that SPIN would read.
    given_separately: bool,
    /// The names in the text outside of formulas.
    names: FxHashSet<Rc<str>>,
    tree: Specification,
}

/// Reads the tokens of a text.
pub(crate) fn parse(source: &Source, tokens: Vec<Token>, diagnostics: &mut Vec<Diagnostic>) -> Specification {
    let mut parser = Parser {
        source,
        tokens: tokens.into(),
        position: 0,
        diagnostics,
        depth: 0,
        errors: 0,
        formula_errors: 0,
        inlines: FxHashMap::default(),
        open_inlines: Vec::new(),
        inlined_tokens: 0,
        proctypes: FxHashSet::default(),
        declared: FxHashSet::default(),
        in_formula: false,
        given_separately: false,
        names: FxHashSet::default(),
        tree: Specification::default(),
    };
    for pair in parser.tokens.windows(2) {
        if let TokenKind::Name(name) = &pair[1].kind
            && (pair[0].is_name("proctype") || pair[0].is_name("D_proctype"))
        {
            parser.proctypes.insert(name.clone());
        }
    }
    parser.names = names_outside_formulas(&parser.tokens);
    parser.specification();
    parser.tree.is_read_but_for_formulas = parser.errors == parser.formula_errors;
    parser.tree
}

/// All words of a text except those in `ltl` and `ctl` blocks.
fn names_outside_formulas(tokens: &[Token]) -> FxHashSet<Rc<str>> {
    let mut names = FxHashSet::default();
    let mut position = 0;
    while position < tokens.len() {
        let opens = |distance: usize| tokens.get(position + distance).is_some_and(|token| token.is("{"));
        if (tokens[position].is_name("ltl") || tokens[position].is_name("ctl")) && (opens(1) || opens(2)) {
            // Formulas have no braces.
            while position < tokens.len() && !tokens[position].is("}") {
                position += 1;
            }
        } else if let TokenKind::Name(name) = &tokens[position].kind {
            names.insert(name.clone());
        }
        position += 1;
    }
    names
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.position]
    }
    fn peek_at(&self, distance: usize) -> &Token {
        &self.tokens[(self.position + distance).min(self.tokens.len() - 1)]
    }
    fn span(&self) -> Span {
        self.peek().span
    }
    /// The span of the token before.
    fn last_span(&self) -> Span {
        self.tokens[self.position.saturating_sub(1)].span
    }
    /// All from one place to another; only the first, if the second lies in another file.
    fn through(&self, first: Span, last: Span) -> Span {
        let file = |span: Span| self.source.file_at(span.start).1.start;
        if file(first) == file(last) { first.to(last) } else { first }
    }
    /// All from a place to the token before.
    fn so_far(&self, first: Span) -> Span {
        self.through(first, self.last_span())
    }
    fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }
    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }
    fn at(&self, symbol: &str) -> bool {
        self.peek().is(symbol)
    }
    fn at_word(&self, word: &str) -> bool {
        self.peek().is_name(word)
    }
    /// Takes a symbol if it comes next.
    fn take(&mut self, symbol: &str) -> bool {
        let found = self.at(symbol);
        if found {
            self.position += 1;
        }
        found
    }
    /// Takes a word if it comes next.
    fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.position += 1;
        }
        found
    }
    /// Accepts a `:=` in place of another symbol. The mistake is obvious, so it is reported, and parsing continues as
    /// if the text were correct.
    fn take_colon_equals(&mut self, expected: &str, help: &str) -> bool {
        if !(self.at(":") && self.peek_at(1).is("=")) {
            return false;
        }
        let span = self.through(self.span(), self.peek_at(1).span);
        let message = format!("expected `{expected}`, found `:=`");
        self.report(Diagnostic::error("syntax", message, span).with_help(help));
        self.position += 2;
        true
    }
    fn expect(&mut self, symbol: &str, after: &str) -> Parsed<()> {
        if self.take(symbol) {
            return Ok(());
        }
        let message = format!("expected `{symbol}` {after}, found {}", self.peek().describe());
        self.fail("syntax", message)
    }
    /// Reports an error at the next token.
    fn fail<T>(&mut self, code: &'static str, message: impl Into<String>) -> Parsed<T> {
        self.report(Diagnostic::error(code, message, self.span()));
        Err(Unreadable)
    }
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.errors < ERROR_LIMIT {
            self.diagnostics.push(diagnostic);
        }
        self.errors += 1;
    }
    fn report_warning(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }
    fn is_keyword(word: &str) -> bool {
        KEYWORDS.contains(&word)
    }
    /// A name that is not a keyword.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Name(text) if !Self::is_keyword(&text) => {
                self.position += 1;
                Ok(Name { text, span: token.span, written: token.written })
            }
            TokenKind::Name(text) => {
                let message = format!("`{text}` is a keyword and cannot be {what}");
                self.fail("keyword-as-name", message)
            }
            _ => {
                let message = format!("expected {what}, found {}", token.describe());
                self.fail("syntax", message)
            }
        }
    }
    /// Runs something one level deeper, if there is a level left.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING_LIMIT {
            return self.fail("too-deep", format!("this is nested more than {NESTING_LIMIT} levels deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
    /// Skips a bracketed stretch that starts here, if one does.
    fn skip_brackets(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() {
            if self.at("{") || self.at("(") || self.at("[") {
                depth += 1;
            } else if self.at("}") || self.at(")") || self.at("]") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    self.position += 1;
                    return;
                }
            } else if depth == 0 {
                return;
            }
            self.position += 1;
        }
    }
}
