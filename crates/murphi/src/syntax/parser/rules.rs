//! The top level: sections, functions, rules, rulesets and properties.

use quotient_ir::Diagnostic;

use super::{Construct, Parsed, Parser, Reported};
use crate::syntax::token::TokenKind;
use crate::syntax::tree::{Declaration, Expr, ExprKind, Item, Rule, RuleKind, Stmt, Tree};

impl Parser<'_> {
    pub(super) fn model(&mut self) -> Tree {
        let mut items = Vec::new();
        while !self.at(TokenKind::EndOfFile) {
            let before = self.position;
            self.open.clear();
            self.else_if = None;
            self.brace = false;
            self.after_misplaced = false;
            if self.kind().starts_declarations() {
                items.extend(self.declarations().into_iter().map(Item::Declaration));
                if !self.at_item() && !self.at(TokenKind::EndOfFile) {
                    self.unexpected_item("a declaration, a function or a rule");
                }
            } else if matches!(self.kind(), TokenKind::Function | TokenKind::Procedure) {
                match self.function() {
                    Ok(function) => items.push(Item::Function(function)),
                    Err(Reported) => self.skip_item(before),
                }
            } else if self.at_external() {
                let message = "external functions are not supported";
                self.report(Diagnostic::error("unsupported-external", message, self.span()));
                self.skip_item(before);
            } else if self.at_fairness() {
                match self.fairness() {
                    Ok(fairness) => items.push(Item::Fairness(fairness)),
                    Err(Reported) => self.skip_item(before),
                }
                self.semicolons();
            } else if self.at_rule() {
                match self.rule() {
                    Ok(rule) => items.push(Item::Rule(rule)),
                    Err(Reported) => self.skip_item(before),
                }
                self.semicolons();
            } else {
                self.unexpected_item("a declaration, a function or a rule");
            }
        }
        Tree { items, uses_undefined: self.uses_undefined, is_for_cmurphi: self.is_for_cmurphi || self.uses_undefined }
    }

    pub(super) fn at_item(&self) -> bool {
        self.at_rule()
            || self.kind().starts_declarations()
            || self.kind().starts_top_level()
            || self.at_external()
            || self.at_fairness()
    }

    /// Whether CMurphi's declaration of a function in another language starts here.
    fn at_external(&self) -> bool {
        self.next_kind() == TokenKind::Identifier && (self.is_word(0, "externfun") || self.is_word(0, "externproc"))
    }

    fn at_rule(&self) -> bool {
        let kind = self.kind();
        matches!(kind, TokenKind::Rule | TokenKind::Startstate | TokenKind::Ruleset | TokenKind::Alias)
            || kind.starts_property()
            || (self.is_word(0, "simplerule")
                && self.next_kind() != TokenKind::Colon
                && self.next_kind() != TokenKind::Comma)
            || (self.is_word(0, "choose") && self.next_kind() == TokenKind::Identifier)
            || self.at_formula()
    }

    /// Reports something that is not allowed between items, and resumes at the next one.
    fn unexpected_item(&mut self, what: &str) {
        let kind = self.kind();
        if kind == TokenKind::Semicolon {
            self.expected_with(what, |it| it.with_help("there is one `;` too many"));
            self.semicolons();
            return;
        }
        self.expected_with(what, |it| match kind {
            _ if kind.is_end() => it.with_help("there is one `end` too many, here or before"),
            _ if kind.starts_keyword_statement() || kind == TokenKind::Identifier => {
                it.with_help("statements stand inside rules and functions; is there one `end` too many before?")
            }
            _ => it,
        });
        if kind.is_end() {
            self.advance();
            self.semicolons();
            if self.at_item() {
                return;
            }
        }
        // What follows is the rest of a rule that ended too early, so properties and aliases among
        // it are statements, and the next rule or section is the first thing to trust.
        self.skip_until(|_| false);
    }

    /// Skips to the next item, and at least one token if none was consumed.
    fn skip_item(&mut self, before: usize) {
        if self.position == before {
            self.advance();
        }
        while !self.at(TokenKind::EndOfFile) && !self.at_item() {
            self.advance();
        }
    }

    /// Rules up to something that starts none.
    fn rules(&mut self) -> Vec<Rule> {
        let mut rules = Vec::new();
        while self.at_rule() {
            let before = self.position;
            match self.nested(Self::rule) {
                Ok(rule) => rules.push(rule),
                Err(Reported) => {
                    if self.position == before {
                        self.advance();
                    }
                    while !self.at_item() && !self.kind().is_end() && !self.at(TokenKind::EndOfFile) {
                        self.advance();
                    }
                }
            }
            self.semicolons();
        }
        rules
    }

    fn do_before_rules(&mut self) {
        if !self.eat(TokenKind::Do) && !self.eat(TokenKind::Colon) {
            self.expected_with(TokenKind::Do.shown(), |it| it.with_help("`do` stands before the rules"));
        }
    }

    /// The rules inside another one, and its `end`.
    fn enclosed_rules(&mut self) -> Vec<Rule> {
        let rules = self.rules();
        self.close();
        rules
    }

    fn rule(&mut self) -> Parsed<Rule> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Startstate => {
                self.advance();
                self.open(Construct::STARTSTATE, start);
                let name = self.text();
                let (declarations, body) = self.program();
                RuleKind::Start { name, declarations, body }
            }
            TokenKind::Ruleset => {
                self.advance();
                self.open(Construct::RULESET, start);
                let quantifiers = self.quantifiers();
                if quantifiers.is_err() {
                    self.skip_until(|kind| kind.is_end() || kind == TokenKind::Do);
                }
                self.do_before_rules();
                let rules = self.enclosed_rules();
                let quantifiers = quantifiers?.into_iter().map(|it| it.node).collect();
                RuleKind::Ruleset { quantifiers, rules }
            }
            TokenKind::Alias => {
                self.advance();
                self.open(Construct::ALIAS, start);
                let aliases = self.aliases();
                self.do_before_rules();
                let rules = self.enclosed_rules();
                RuleKind::Alias { aliases, rules }
            }
            kind if kind.starts_property() => {
                let (category, name, condition) =
                    self.property(|parser| parser.at_item() || parser.is_word(0, "endchoose"))?;
                RuleKind::Property { category, name, condition }
            }
            _ if self.at_formula() => self.temporal_property()?,
            _ if self.is_word(0, "choose") => {
                self.advance();
                self.open(Construct::CHOOSE, start);
                let name = self.name()?;
                self.expect(TokenKind::Colon)?;
                let multiset = self.designator()?;
                self.do_before_rules();
                let rules = self.enclosed_rules();
                RuleKind::Choose { name, multiset, rules }
            }
            _ => {
                self.advance();
                self.open(Construct::RULE, start);
                let priority = self.priority();
                let name = self.text();
                let guard = self.guard();
                let (declarations, body) = self.program();
                RuleKind::Rule { priority, name, guard, declarations, body }
            }
        };
        Ok(Rule { kind, span: self.since(start) })
    }

    /// CMurphi's priority of a rule, if the current token is a number that starts no guard.
    fn priority(&mut self) -> u64 {
        let after = self.next_kind();
        let is_priority = self.at(TokenKind::Number)
            && (after == TokenKind::Text
                || after == TokenKind::Begin
                || after.starts_declarations()
                || (after.starts_expression() && !matches!(after, TokenKind::Plus | TokenKind::Minus)));
        if !is_priority {
            return 0;
        }
        self.is_for_cmurphi = true;
        match self.number().map(|number| number.node.kind) {
            Ok(ExprKind::Number(value)) => u64::try_from(value).unwrap_or(0),
            // It is too large, which is reported.
            _ => 0,
        }
    }

    /// `guard ==>`, if there is one.
    fn guard(&mut self) -> Option<Expr> {
        if self.follows_broken_text() {
            return None;
        }
        if !self.kind().starts_expression() {
            if self.at(TokenKind::Arrow) {
                self.expected_with("a guard or `begin`", |it| it.with_help("a rule without a guard has no `==>`"));
                self.advance();
            }
            return None;
        }
        let guard = self.expression();
        if guard.is_ok() && self.at(TokenKind::Assign) && self.is_arrow_ahead() {
            self.expected(TokenKind::Arrow.shown());
            self.skip_until(|kind| kind == TokenKind::Arrow);
            self.advance();
            return None;
        }
        if guard.is_ok() && self.at(TokenKind::Assign) {
            self.expected_with("`==>`", |it| {
                it.with_help("write `begin` before the first statement of a rule without a guard")
            });
            self.skip_until(|kind| kind == TokenKind::Semicolon || kind.is_end() || kind.starts_keyword_statement());
            self.semicolons();
            return None;
        }
        if !self.at(TokenKind::Arrow) {
            if guard.is_ok() {
                let help = match self.kind() {
                    TokenKind::Semicolon => Some("write `begin` before the first statement of a rule without a guard"),
                    TokenKind::Begin | TokenKind::Implies => Some("a guard ends with `==>`"),
                    _ => None,
                };
                self.expected_with("`==>`", |it| match help {
                    Some(help) => it.with_help(help),
                    None => it,
                });
            }
            self.skip_until(|kind| {
                kind.is_end()
                    || kind.starts_keyword_statement()
                    || matches!(
                        kind,
                        TokenKind::Arrow | TokenKind::ShortArrow | TokenKind::Begin | TokenKind::Semicolon
                    )
            });
        }
        if self.at(TokenKind::Arrow) || self.at(TokenKind::ShortArrow) {
            self.advance();
        } else {
            self.semicolons();
        }
        guard.ok()
    }

    /// Whether the guard that was cut off here still ends with its arrow.
    fn is_arrow_ahead(&self) -> bool {
        let ahead = self.tokens[self.position..].iter().map(|token| token.kind);
        let stops = |kind: &TokenKind| {
            matches!(kind, TokenKind::Arrow | TokenKind::Semicolon | TokenKind::Begin | TokenKind::Text)
                || kind.is_end()
                || kind.starts_top_level()
                || kind.starts_declarations()
                || kind.starts_keyword_statement()
        };
        ahead.into_iter().find(stops) == Some(TokenKind::Arrow)
    }

    /// Local declarations, `begin`, statements and the `end` of a rule or initial-state program.
    fn program(&mut self) -> (Vec<Declaration>, Vec<Stmt>) {
        let has_sections = self.kind().starts_declarations();
        let declarations = self.declarations();
        if !self.eat(TokenKind::Begin) && has_sections {
            self.expected_with("`begin`", |it| {
                it.with_help("`begin` stands between the declarations and the statements")
            });
        }
        let statements = self.statements();
        self.close();
        (declarations, statements)
    }
}
