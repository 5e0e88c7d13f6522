//! Constants, types, variables, functions, and type expressions.

use quotient_ir::{Diagnostic, Span};

use super::expressions::missing;
use super::{Construct, Parsed, Parser, Tall};
use crate::syntax::token::TokenKind;
use crate::syntax::tree::{
    Alias, Declaration, Expr, ExprKind, FormalParameter, Function, Name, TypeExpr, TypeExprKind,
};

/// Words that have a meaning to the parser when they are called like functions.
const WORDS: [&str; 7] =
    ["ismember", "multisetadd", "multisetcount", "multisetremove", "multisetremovepred", "elseif", "elif"];

fn missing_type(span: Span) -> TypeExpr {
    TypeExpr { kind: TypeExprKind::Missing, span }
}

impl Parser<'_> {
    /// Any number of `const`, `type` and `var` sections.
    pub(super) fn declarations(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        loop {
            match self.kind() {
                TokenKind::Const => {
                    self.advance();
                    self.values(|name, value| declarations.push(Declaration::Constant { name, value }));
                }
                TokenKind::Type => {
                    self.advance();
                    self.typed_names(|name, ty| declarations.push(Declaration::Type { name, ty }));
                }
                TokenKind::Var => {
                    self.advance();
                    self.typed_names(|name, ty| declarations.push(Declaration::Variable { name, ty }));
                }
                _ => return declarations,
            }
        }
    }

    /// Whether a declaration `a, b: …` starts here, and not a statement or the next section.
    fn at_declaration(&self) -> bool {
        match self.kind() {
            TokenKind::Colon => true,
            // Between rules and in records no statement can start.
            TokenKind::Identifier if self.open.last().is_none_or(|(it, _)| *it == Construct::RECORD) => !self.at_item(),
            TokenKind::Identifier => !matches!(
                self.next_kind(),
                TokenKind::Assign | TokenKind::Dot | TokenKind::LeftBracket | TokenKind::LeftParenthesis
            ),
            _ => self.at_keyword_as_name() && matches!(self.next_kind(), TokenKind::Colon | TokenKind::Comma),
        }
    }

    /// The names before a colon, and the colon.
    fn declared_names(&mut self) -> Parsed<Vec<Name>> {
        let mut names = Vec::new();
        while !self.at(TokenKind::Colon) {
            names.push(self.declared_name()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        match self.kind() {
            TokenKind::Colon => {
                self.advance();
            }
            // The mistake is obvious, so parsing continues as if the text were correct.
            TokenKind::Equal | TokenKind::DoubleEqual | TokenKind::Assign => {
                self.expected_with("`:`", |it| it.with_help("a declaration is written with a colon: `name: …`"));
                self.advance();
            }
            kind if kind.starts_type() => {
                self.expected(TokenKind::Colon.shown());
            }
            _ => return Err(self.expected("`:` or `,`")),
        }
        Ok(names)
    }

    /// `a, b: expression;` repeated: constants and aliases.
    pub(super) fn values(&mut self, mut declare: impl FnMut(Name, Expr)) {
        while self.at_declaration() {
            let nodes = self.nodes;
            let Ok(names) = self.declared_names() else {
                self.skip_declaration();
                continue;
            };
            let start = self.span();
            let value = self.expression();
            let failed = value.is_err();
            let value = value.unwrap_or_else(|_| missing(start));
            if self.check_copies(names.len().saturating_sub(1), nodes).is_err() {
                return;
            }
            for name in names {
                declare(name, value.clone());
            }
            if failed {
                self.skip_declaration();
            }
            self.semicolons();
        }
    }

    /// `a, b: type;` repeated: types, variables and fields.
    pub(super) fn typed_names(&mut self, mut declare: impl FnMut(Name, TypeExpr)) -> u32 {
        let mut height = 0;
        while self.at_declaration() {
            let nodes = self.nodes;
            let Ok(names) = self.declared_names() else {
                self.skip_declaration();
                continue;
            };
            let ty = self.type_or_missing();
            height = height.max(ty.height);
            if self.check_copies(names.len().saturating_sub(1), nodes).is_err() {
                return height;
            }
            for name in names {
                declare(name, ty.node.clone());
            }
            if self.at(TokenKind::Comma) {
                self.expected_with("`;`", |it| it.with_help("declarations of different types are separated by `;`"));
                self.advance();
            }
            self.semicolons();
        }
        height
    }

    /// A type; if there is none, the tokens in its place are skipped.
    fn type_or_missing(&mut self) -> Tall<TypeExpr> {
        let start = self.span();
        self.type_expression().unwrap_or_else(|_| {
            self.skip_declaration();
            Tall { node: missing_type(start), height: 1 }
        })
    }

    /// Skips the rest of a declaration, its semicolon included.
    fn skip_declaration(&mut self) {
        self.skip_until(|kind| {
            kind == TokenKind::Semicolon
                || kind == TokenKind::Begin
                || kind == TokenKind::Do
                || kind.is_end()
                || kind.starts_keyword_statement()
        });
        self.semicolons();
    }

    /// `a: designator; b: designator` of an `alias`.
    pub(super) fn aliases(&mut self) -> Vec<Alias> {
        let mut aliases = Vec::new();
        self.values(|name, value| aliases.push(Alias { name, value }));
        aliases
    }

    // Types.

    pub(super) fn type_expression(&mut self) -> Parsed<Tall<TypeExpr>> {
        self.nested(Self::type_here)
    }

    fn tall_type(&mut self, kind: TypeExprKind, span: Span, height: u32) -> Parsed<Tall<TypeExpr>> {
        self.nodes += 1;
        self.check_height(height + 1)?;
        Ok(Tall { node: TypeExpr { kind, span }, height: height + 1 })
    }

    fn type_here(&mut self) -> Parsed<Tall<TypeExpr>> {
        let start = self.span();
        match self.kind() {
            TokenKind::Boolean => {
                self.advance();
                self.tall_type(TypeExprKind::Boolean, start, 0)
            }
            TokenKind::Enum => {
                self.advance();
                let members = self.members()?;
                self.tall_type(TypeExprKind::Enumeration(members), self.since(start), 0)
            }
            TokenKind::Scalarset => {
                self.advance();
                self.expect(TokenKind::LeftParenthesis)?;
                let size = self.tall_expression()?;
                self.close_parenthesis(start)?;
                self.tall_type(TypeExprKind::Scalarset(Box::new(size.node)), self.since(start), size.height)
            }
            TokenKind::Union => self.union(),
            TokenKind::Array => self.array(),
            TokenKind::Record => self.record(),
            TokenKind::Identifier if self.is_word(0, "multiset") && self.next_kind() == TokenKind::LeftBracket => {
                self.multiset()
            }
            TokenKind::RealType => {
                self.report(Diagnostic::error("unsupported-real", "real types are not supported", start));
                self.advance();
                if self.at(TokenKind::LeftParenthesis) {
                    self.arguments()?;
                }
                Ok(Tall { node: missing_type(self.since(start)), height: 1 })
            }
            kind if kind.starts_expression() => self.range_or_name(),
            _ => Err(self.expected("a type")),
        }
    }

    /// `{a, b, …}` with an optional comma at the end.
    fn members(&mut self) -> Parsed<Vec<Name>> {
        let start = self.span();
        self.expect(TokenKind::LeftBrace)?;
        let mut members = Vec::new();
        while !self.at(TokenKind::RightBrace) {
            members.push(self.declared_name()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close_brace(start)?;
        Ok(members)
    }

    fn close_brace(&mut self, start: Span) -> Parsed<()> {
        if self.eat(TokenKind::RightBrace) {
            return Ok(());
        }
        Err(self.expected_with("`,` or `}`", |diagnostic| diagnostic.with_secondary(start, "opened here")))
    }

    /// `union {A, B}`.
    fn union(&mut self) -> Parsed<Tall<TypeExpr>> {
        let start = self.span();
        self.advance();
        let brace = self.span();
        self.expect(TokenKind::LeftBrace)?;
        let mut members = Vec::new();
        let mut height = 0;
        while !self.at(TokenKind::RightBrace) {
            let member = self.type_expression()?;
            height = height.max(member.height);
            members.push(member.node);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close_brace(brace)?;
        self.is_for_cmurphi = true;
        self.tall_type(TypeExprKind::Union(members), self.since(start), height)
    }

    /// `array [I] of T`, with several index types as nested arrays.
    fn array(&mut self) -> Parsed<Tall<TypeExpr>> {
        let start = self.span();
        self.advance();
        self.expect(TokenKind::LeftBracket)?;
        let mut indices = vec![self.type_expression()?];
        while self.eat(TokenKind::Comma) {
            indices.push(self.type_expression()?);
        }
        self.expect(TokenKind::RightBracket)?;
        self.expect(TokenKind::Of)?;
        let mut array = self.type_expression()?;
        for index in indices.into_iter().rev() {
            let height = index.height.max(array.height);
            let kind = TypeExprKind::Array { index: Box::new(index.node), element: Box::new(array.node) };
            array = self.tall_type(kind, self.since(start), height)?;
        }
        Ok(array)
    }

    /// `multiset [N] of T`.
    fn multiset(&mut self) -> Parsed<Tall<TypeExpr>> {
        let start = self.span();
        self.advance();
        self.expect(TokenKind::LeftBracket)?;
        let capacity = self.tall_expression()?;
        self.expect(TokenKind::RightBracket)?;
        self.expect(TokenKind::Of)?;
        let element = self.type_expression()?;
        self.is_for_cmurphi = true;
        let height = capacity.height.max(element.height);
        let kind = TypeExprKind::Multiset { capacity: Box::new(capacity.node), element: Box::new(element.node) };
        self.tall_type(kind, self.since(start), height)
    }

    fn record(&mut self) -> Parsed<Tall<TypeExpr>> {
        let start = self.span();
        self.advance();
        self.open(Construct::RECORD, start);
        let mut fields = Vec::new();
        let height = self.typed_names(|name, ty| fields.push((name, ty)));
        self.close();
        self.tall_type(TypeExprKind::Record(fields), self.since(start), height)
    }

    /// `low..high`, or the name of a type.
    fn range_or_name(&mut self) -> Parsed<Tall<TypeExpr>> {
        let starts_with_name = self.at(TokenKind::Identifier);
        let low = self.tall_expression()?;
        let span = low.node.span;
        if !self.eat(TokenKind::DotDot) {
            return match low.node.kind {
                ExprKind::Name(text) if starts_with_name => {
                    self.tall_type(TypeExprKind::Named(Name { text, span }), span, 0)
                }
                _ => Err(self.expected("`..`")),
            };
        }
        let high = self.tall_expression()?;
        let span = span.to(high.node.span);
        let height = low.height.max(high.height);
        self.tall_type(TypeExprKind::Range { low: Box::new(low.node), high: Box::new(high.node) }, span, height)
    }

    // Functions.

    pub(super) fn function(&mut self) -> Parsed<Function> {
        let start = self.span();
        let keyword = self.advance().kind;
        let name = self.function_name()?;
        self.shadowed.extend(WORDS.into_iter().find(|word| name.text.eq_ignore_ascii_case(word)));
        self.open(if keyword == TokenKind::Function { Construct::FUNCTION } else { Construct::PROCEDURE }, start);
        let parameters = self.parameters();
        let result = if self.eat(TokenKind::Colon) { Some(self.type_or_missing().node) } else { None };
        self.semicolons();
        let declarations = self.declarations();
        self.eat(TokenKind::Begin);
        let body = self.statements();
        self.close();
        let span = self.since(start);
        self.semicolons();
        Ok(Function { name, parameters, result, declarations, body, span })
    }

    fn function_name(&mut self) -> Parsed<Name> {
        let token = self.token(0);
        if token.kind.is_keyword() && self.next_kind() == TokenKind::LeftParenthesis {
            self.report_keyword_as_name();
            self.advance();
            return Ok(self.name_of(token));
        }
        self.name()
    }

    /// `(var a, b: T; c: U)`. After an error, what follows the closing parenthesis is still read.
    fn parameters(&mut self) -> Vec<FormalParameter> {
        let mut parameters = Vec::new();
        if matches!(self.kind(), TokenKind::Colon | TokenKind::Semicolon) {
            self.expected_with("`(`", |it| it.with_help("a function without parameters is written `name()`"));
        } else if self.parameter_list(&mut parameters).is_err() {
            self.skip_until(|kind| {
                matches!(kind, TokenKind::RightParenthesis | TokenKind::Begin)
                    || kind.is_end()
                    || kind.starts_keyword_statement()
            });
            self.eat(TokenKind::RightParenthesis);
        }
        parameters
    }

    fn parameter_list(&mut self, parameters: &mut Vec<FormalParameter>) -> Parsed<()> {
        let start = self.span();
        self.expect(TokenKind::LeftParenthesis)?;
        while !self.at(TokenKind::RightParenthesis) {
            let by_reference = self.eat(TokenKind::Var);
            let nodes = self.nodes;
            if self.at(TokenKind::Colon) {
                return Err(self.expected(TokenKind::Identifier.shown()));
            }
            let names = self.declared_names()?;
            let ty = self.type_expression()?.node;
            self.check_copies(names.len().saturating_sub(1), nodes)?;
            parameters.extend(names.into_iter().map(|name| FormalParameter { by_reference, name, ty: ty.clone() }));
            if !self.semicolons() && !matches!(self.kind(), TokenKind::Identifier | TokenKind::Var) {
                break;
            }
        }
        if self.at(TokenKind::Comma) {
            return Err(self
                .expected_with("`;` or `)`", |it| it.with_help("parameters of different types are separated by `;`")));
        }
        self.close_parenthesis(start)
    }
}
