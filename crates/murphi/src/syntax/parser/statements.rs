//! Statements.

use quotient_ir::{Diagnostic, Span};

use super::expressions::missing;
use super::{Construct, Parsed, Parser, Reported};
use crate::syntax::token::TokenKind;
use crate::syntax::tree::{Category, Expr, Stmt, StmtKind, Text};

impl Parser<'_> {
    /// Statements with semicolons between them, up to something that starts none.
    pub(super) fn statements(&mut self) -> Vec<Stmt> {
        let mut statements = Vec::new();
        loop {
            let kind = self.kind();
            if kind == TokenKind::Semicolon {
                self.expected_with("a statement", |it| it.with_help("there is one `;` too many"));
                self.semicolons();
            } else if matches!(kind, TokenKind::LeftBrace | TokenKind::RightBrace) {
                if !self.brace {
                    self.expected_with("a statement", |it| it.with_help("statements stand between `begin` and `end`"));
                }
                self.brace = true;
                self.advance();
            } else if kind.starts_declarations() {
                self.misplaced_declarations();
            } else if self.ends_statements() {
                return statements;
            } else {
                let before = self.position;
                self.after_misplaced = false;
                // Statements count twice: reading one takes more of the stack than an operator does.
                match self.nested(|parser| parser.nested(Self::statement)) {
                    Ok(statement) => statements.push(statement),
                    Err(Reported) => self.skip_statement(before),
                }
                if self.semicolons() || self.ends_statements() || self.kind().starts_declarations() {
                    continue;
                }
                self.expected_semicolon();
                if !self.at_statement() {
                    // Whatever this is, it belongs to the statement before it, whose meaning is lost.
                    statements.pop();
                    self.skip_statement(self.position);
                    self.semicolons();
                }
            }
        }
    }

    /// Whether the current token belongs to the construct around the statements.
    fn ends_statements(&self) -> bool {
        let kind = self.kind();
        let innermost = self.open.last().map(|(construct, _)| *construct);
        (kind.is_end() || kind.starts_top_level()) && !self.at_assigned_keyword()
            || matches!(kind, TokenKind::Else | TokenKind::Elsif | TokenKind::Case | TokenKind::EndOfFile)
            || self.is_word(0, "endchoose")
            || innermost == Some(Construct::IF) && self.at_elsif_slip()
            || innermost == Some(Construct::SWITCH) && self.at_default_slip()
    }

    /// Declarations among statements: either out of place, or the `end` before them is missing.
    fn misplaced_declarations(&mut self) {
        let open = self.open.last().copied();
        self.expected_with("a statement or `end`", |diagnostic| {
            let diagnostic = match open {
                Some((construct, span)) => {
                    diagnostic.with_secondary(span, format!("this `{}` is not closed", construct.name))
                }
                None => diagnostic,
            };
            diagnostic.with_help("declarations stand before `begin`; or the `end` before them is missing")
        });
        self.declarations();
        self.eat(TokenKind::Begin);
        self.after_misplaced = true;
    }

    /// Reports a missing semicolon, at the end of what it should follow.
    fn expected_semicolon(&mut self) {
        if self.is_reported_here() {
            return;
        }
        let previous = self.previous_span();
        let message = format!("expected `;`, found {}", self.found());
        let diagnostic = Diagnostic::error("syntax", message, Span { start: previous.end, end: previous.end });
        let diagnostic = diagnostic.with_label("expected `;`").with_secondary(self.span(), "before this");
        let help = self.hint();
        self.report(Diagnostic { help, ..diagnostic });
    }

    /// Whether a statement starts here beyond doubt.
    fn at_statement(&self) -> bool {
        self.kind().starts_keyword_statement()
            || self.at(TokenKind::Identifier)
                && matches!(
                    self.next_kind(),
                    TokenKind::Assign
                        | TokenKind::Equal
                        | TokenKind::DoubleEqual
                        | TokenKind::Dot
                        | TokenKind::LeftBracket
                        | TokenKind::LeftParenthesis
                )
    }

    /// `elseif` for `elsif`.
    fn at_elsif_slip(&self) -> bool {
        ["elseif", "elif"].into_iter().any(|word| {
            self.is_word(0, word)
                && self.next_kind().starts_expression()
                && (self.next_kind() != TokenKind::LeftParenthesis || self.at_operation(word))
        })
    }

    /// `default:` for `else`.
    fn at_default_slip(&self) -> bool {
        self.next_kind() == TokenKind::Colon && (self.is_word(0, "default") || self.is_word(0, "otherwise"))
    }

    /// Skips the rest of a statement that failed, and at least one token if none was consumed.
    fn skip_statement(&mut self, before: usize) {
        if self.position == before && !self.ends_statements() && !self.at(TokenKind::Semicolon) {
            self.advance();
        }
        self.skip_until(|kind| {
            kind.is_end()
                || kind.starts_keyword_statement()
                || matches!(kind, TokenKind::Semicolon | TokenKind::Else | TokenKind::Elsif | TokenKind::Case)
                || matches!(kind, TokenKind::Then | TokenKind::Do)
        });
        if self.eat(TokenKind::Then) || self.eat(TokenKind::Do) {
            self.skip_block();
        }
    }

    /// Reads the statements after a header that was not recognised, and their `end`.
    fn skip_block(&mut self) {
        let statements = |parser: &mut Self| {
            parser.statements();
            Ok(())
        };
        while self.nested(|parser| parser.nested(statements)).is_ok() {
            if self.eat(TokenKind::Elsif) {
                self.condition(TokenKind::Then);
            } else if !self.eat(TokenKind::Else) {
                break;
            }
        }
        if self.kind().is_end() {
            self.advance();
        }
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let kind = match self.kind() {
            _ if self.at_assigned_keyword() => {
                let target = self.designator()?;
                self.assignment(target)?
            }
            kind if kind.starts_property() => {
                let (category, message, condition) =
                    self.property(|parser| parser.ends_statements() || parser.at_statement())?;
                StmtKind::Property { category, message, condition }
            }
            TokenKind::Identifier => self.simple_statement()?,
            TokenKind::Alias => {
                self.advance();
                self.open(Construct::ALIAS, start);
                let aliases = self.aliases();
                self.do_or_skip();
                let body = self.body();
                StmtKind::Alias { aliases, body }
            }
            TokenKind::Error => {
                self.advance();
                match self.text() {
                    Some(text) => StmtKind::Error(text),
                    None => return Err(self.expected(TokenKind::Text.shown())),
                }
            }
            TokenKind::Clear => {
                self.advance();
                StmtKind::Clear(self.designator()?)
            }
            TokenKind::Undefine => {
                self.advance();
                StmtKind::Undefine(self.designator()?)
            }
            TokenKind::For => return self.for_statement(),
            TokenKind::If => self.if_statement(),
            TokenKind::Switch => self.switch_statement(),
            TokenKind::While => {
                self.advance();
                self.open(Construct::WHILE, start);
                let condition = self.condition(TokenKind::Do);
                let body = self.body();
                StmtKind::While { condition, body }
            }
            TokenKind::Put => {
                self.advance();
                match self.text() {
                    Some(text) => StmtKind::PutText(text),
                    None => StmtKind::Put(self.expression()?),
                }
            }
            TokenKind::Return => {
                self.advance();
                let value = if self.kind().starts_expression() { Some(self.expression()?) } else { None };
                StmtKind::Return(value)
            }
            _ => return Err(self.expected("a statement")),
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    /// `category "name" condition` or `category condition "name"`. What may follow it depends on the context.
    pub(super) fn property(&mut self, is_followed: impl Fn(&Self) -> bool) -> Parsed<(Category, Option<Text>, Expr)> {
        let category = match self.advance().kind {
            TokenKind::Assert => Category::Assert,
            TokenKind::Assume => Category::Assume,
            TokenKind::Cover => Category::Cover,
            TokenKind::Liveness => Category::Liveness,
            _ => Category::Invariant,
        };
        let name = self.text();
        let condition = self.expression()?;
        let name = if name.is_some() { name } else { self.text() };
        match self.kind() {
            // The remainder of a mistake in a condition; a condition cut off there has no meaning.
            TokenKind::Text
            | TokenKind::Identifier
            | TokenKind::Number
            | TokenKind::Assign
            | TokenKind::Arrow
            | TokenKind::ShortArrow
            | TokenKind::RightParenthesis
            | TokenKind::RightBracket
                if !is_followed(self) =>
            {
                Err(self.expected(TokenKind::Semicolon.shown()))
            }
            _ => Ok((category, name, condition)),
        }
    }

    /// A statement that starts with a name: an assignment, a call, an operation on multisets.
    fn simple_statement(&mut self) -> Parsed<StmtKind> {
        let start = self.span();
        if self.at_operation("multisetadd") || self.at_operation("multisetremove") {
            let adds = self.is_word(0, "multisetadd");
            self.advance();
            self.advance();
            let first = self.expression()?;
            self.expect(TokenKind::Comma)?;
            let multiset = self.designator()?;
            self.close_parenthesis(start)?;
            return Ok(if adds {
                StmtKind::MultisetAdd { element: first, multiset }
            } else {
                StmtKind::MultisetRemove { position: first, multiset }
            });
        }
        if self.at_operation("multisetremovepred") {
            self.advance();
            self.advance();
            let name = self.name()?;
            self.expect(TokenKind::Colon)?;
            let multiset = self.designator()?;
            self.expect(TokenKind::Comma)?;
            let condition = self.expression()?;
            self.close_parenthesis(start)?;
            return Ok(StmtKind::MultisetRemoveIf { name, multiset, condition });
        }
        if self.is_word(0, "putstate") && matches!(self.next_kind(), TokenKind::Semicolon | TokenKind::End) {
            self.advance();
            return Ok(StmtKind::PutState);
        }
        if self.next_kind() == TokenKind::LeftParenthesis {
            let function = self.name()?;
            let arguments = self.arguments()?.node;
            return Ok(StmtKind::Call { function, arguments });
        }
        let target = self.designator()?;
        self.assignment(target)
    }

    /// The rest of `target := value`.
    fn assignment(&mut self, target: Expr) -> Parsed<StmtKind> {
        match self.kind() {
            TokenKind::Assign => {}
            TokenKind::Colon if self.next_kind().starts_type() && !self.next_kind().starts_expression() => {
                return Err(self.expected_with("`:=`", |it| {
                    it.with_help("a variable is declared in a `var` section before `begin`")
                }));
            }
            // The mistake is obvious, so parsing continues as if the text were correct.
            TokenKind::Equal | TokenKind::DoubleEqual | TokenKind::Colon => {
                self.expected_with("`:=`", |it| it.with_help("an assignment is written `:=`"));
            }
            _ => return Err(self.expected(TokenKind::Assign.shown())),
        }
        self.advance();
        let value = self.expression()?;
        Ok(StmtKind::Assign { target, value })
    }

    /// The statements of a construct, and its `end`.
    fn body(&mut self) -> Vec<Stmt> {
        let statements = self.statements();
        self.close();
        statements
    }

    /// A condition and the keyword after it. The body can be parsed afterwards, whatever the error.
    fn condition(&mut self, keyword: TokenKind) -> Expr {
        let start = self.span();
        let parsed = self.expression();
        let failed = parsed.is_err();
        let mut condition = parsed.unwrap_or_else(|_| missing(start));
        if self.at(TokenKind::Assign) && !failed {
            self.expected(keyword.shown());
            self.advance();
            condition = match self.expression() {
                Ok(_) => missing(self.since(start)),
                Err(Reported) => missing(start),
            };
        }
        self.keyword_or_skip(keyword, failed);
        condition
    }

    /// `do` or CMurphi's `:` for it.
    pub(super) fn do_or_skip(&mut self) {
        self.keyword_or_skip(TokenKind::Do, false);
    }

    fn keyword_or_skip(&mut self, keyword: TokenKind, failed: bool) {
        let stands_here = |kind| kind == keyword || (keyword == TokenKind::Do && kind == TokenKind::Colon);
        if stands_here(self.kind()) {
            self.advance();
            return;
        }
        let starts_body = self.at_statement();
        if !failed {
            let previous = self.previous_span();
            let help = match self.kind() {
                TokenKind::Then | TokenKind::Do | TokenKind::Begin => Some(format!("write {} here", keyword.shown())),
                _ if starts_body && self.hint().is_none() => {
                    Some(format!("{} is missing before this", keyword.shown()))
                }
                _ => None,
            };
            self.expected_with(keyword.shown(), |diagnostic| {
                let diagnostic =
                    diagnostic.with_secondary(Span { start: previous.end, end: previous.end }, "after this");
                Diagnostic { help, ..diagnostic }
            });
            if starts_body {
                return;
            }
        }
        self.skip_until(|kind| {
            kind == keyword
                || kind.is_end()
                || kind.starts_keyword_statement()
                || matches!(
                    kind,
                    TokenKind::Then
                        | TokenKind::Do
                        | TokenKind::Begin
                        | TokenKind::Semicolon
                        | TokenKind::Else
                        | TokenKind::Elsif
                        | TokenKind::Case
                )
        });
        if matches!(self.kind(), TokenKind::Then | TokenKind::Do | TokenKind::Begin) || self.at(keyword) {
            self.advance();
        } else {
            self.semicolons();
        }
    }

    /// `for i: T do … end`; several quantifiers, as in CMurphi, are loops inside each other.
    fn for_statement(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        self.advance();
        self.open(Construct::FOR, start);
        let quantifiers = self.quantifiers();
        self.keyword_or_skip(TokenKind::Do, quantifiers.is_err());
        let mut body = self.body();
        let span = self.since(start);
        let quantifiers = quantifiers?;
        self.check_height(u32::try_from(quantifiers.len()).unwrap_or(u32::MAX / 2))?;
        for quantifier in quantifiers.into_iter().rev() {
            body = vec![Stmt { kind: StmtKind::For { quantifier: quantifier.node, body }, span }];
        }
        body.pop().ok_or(Reported)
    }

    fn if_statement(&mut self) -> StmtKind {
        let start = self.span();
        self.open(Construct::IF, start);
        let mut branches = Vec::new();
        while branches.is_empty() || self.at(TokenKind::Elsif) || self.at_elsif_slip() {
            if self.at(TokenKind::Identifier) {
                self.expected(TokenKind::Elsif.shown());
            }
            self.advance();
            let condition = self.condition(TokenKind::Then);
            branches.push((condition, self.statements()));
        }
        let otherwise = if self.eat(TokenKind::Else) {
            if self.at(TokenKind::If) {
                self.else_if = Some(self.previous_span().to(self.span()));
            }
            Some(self.statements())
        } else {
            None
        };
        self.close();
        StmtKind::If { branches, otherwise }
    }

    fn switch_statement(&mut self) -> StmtKind {
        let start = self.span();
        self.advance();
        self.open(Construct::SWITCH, start);
        let subject_start = self.span();
        let subject = self.expression().unwrap_or_else(|_| {
            self.skip_until(|kind| kind.is_end() || matches!(kind, TokenKind::Case | TokenKind::Else));
            missing(subject_start)
        });
        let mut cases = Vec::new();
        while self.eat(TokenKind::Case) {
            let mut values = Vec::new();
            if self.case_values(&mut values).is_err() {
                self.skip_until(|kind| {
                    kind.is_end() || matches!(kind, TokenKind::Colon | TokenKind::Semicolon | TokenKind::Case)
                });
                self.eat(TokenKind::Colon);
                self.semicolons();
            }
            cases.push((values, self.statements()));
        }
        if self.at_default_slip() {
            self.expected_with("`else`, `case` or `end`", |it| {
                it.with_help("the case of all other values is written `else`")
            });
            self.advance();
            self.advance();
            self.statements();
        }
        let otherwise = if self.eat(TokenKind::Else) { Some(self.statements()) } else { None };
        self.close();
        StmtKind::Switch { subject, cases, otherwise }
    }

    fn case_values(&mut self, values: &mut Vec<Expr>) -> Parsed<()> {
        while !self.at(TokenKind::Colon) {
            values.push(self.expression()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Colon)?;
        Ok(())
    }
}
