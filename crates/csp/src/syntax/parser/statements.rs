//! Blocks of statements behind events.

use quotient_ir::Diagnostic;
use quotient_kit::tokens::TokenKind;

use super::{BRACKET, Parsed, Parser};
use crate::syntax::tree::{Binary, Block, Expression, ExpressionKind, Name, Statement, StatementKind};

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.expect("{", "before statements")?;
        self.deeper(BRACKET)?;
        let mut statements = Vec::new();
        while !self.peek().is("}") && !self.at_end() {
            if self.take(";") {
                continue;
            }
            let statement = self.statement()?;
            let needs_separator =
                !matches!(statement.kind, StatementKind::If(..) | StatementKind::While(..) | StatementKind::Block(_));
            statements.push(statement);
            if needs_separator && !self.peek().is("}") {
                self.expect(";", "after a statement")?;
            }
        }
        self.depth -= BRACKET;
        self.expect("}", "after statements")?;
        Ok(Block { statements })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.peek().span;
        let kind = if self.take("if") {
            let condition = self.condition()?;
            let then = self.branch()?;
            let otherwise = if self.take("else") { Some(self.branch()?) } else { None };
            StatementKind::If(condition, then, otherwise)
        } else if self.take("while") {
            let condition = self.condition()?;
            StatementKind::While(condition, self.branch()?)
        } else if self.peek().is("{") {
            StatementKind::Block(self.block()?)
        } else if self.take("var") {
            let name = self.name("the name of a variable")?;
            let sizes = self.indices()?;
            let value = if self.take("=") { Some(self.expression()?) } else { None };
            StatementKind::Local { name, sizes, value }
        } else {
            self.assignment()?
        };
        Ok(Statement { kind, span: start.to(self.before()) })
    }

    fn condition(&mut self) -> Parsed<Expression> {
        self.expect("(", "before a condition")?;
        let condition = self.expression()?;
        self.expect(")", "after a condition")?;
        Ok(condition)
    }

    /// A block, or a statement as one.
    fn branch(&mut self) -> Parsed<Block> {
        if self.peek().is("{") {
            return self.block();
        }
        self.deeper(BRACKET)?;
        let statement = self.statement()?;
        self.depth -= BRACKET;
        self.take(";");
        Ok(Block { statements: vec![statement] })
    }

    fn assignment(&mut self) -> Parsed<StatementKind> {
        let name = self.name("a statement")?;
        if &*name.text == "call" && self.take("(") {
            let called = self.name("the name of what is called")?;
            let mut arguments = Vec::new();
            while self.take(",") {
                arguments.push(self.expression()?);
            }
            self.expect(")", "after the arguments")?;
            return Ok(StatementKind::Call(called, arguments));
        }
        if self.peek().is(".") && matches!(self.ahead(1).kind, TokenKind::Name(_)) {
            self.advance();
            let method = self.name("the name of a method")?;
            if self.peek().is("(") {
                return Ok(StatementKind::Method(name, method, self.arguments()?));
            }
            if self.take("=") {
                self.expression()?;
            }
            return Ok(StatementKind::Field(name));
        }
        let indices = self.indices()?;
        let token = self.peek().clone();
        let TokenKind::Symbol(symbol) = token.kind else { return self.unexpected("`=`") };
        let read = |name: &Name, indices: &[Expression]| Expression {
            kind: match indices {
                [] => ExpressionKind::Name(name.text.clone()),
                _ => ExpressionKind::Element(name.clone(), indices.to_vec()),
            },
            span: name.span,
        };
        let changed = |operator, name: &Name, indices: &[Expression], value: Expression| {
            let span = name.span.to(value.span);
            let kind = ExpressionKind::Binary(operator, Box::new(read(name, indices)), Box::new(value));
            Expression { kind, span }
        };
        let one = Expression { kind: ExpressionKind::Number(1), span: token.span };
        let operator = match symbol {
            "=" => {
                self.advance();
                let value = self.expression()?;
                return Ok(StatementKind::Assign { target: name, indices, value });
            }
            ";" | "}" if indices.is_empty() => return Ok(StatementKind::Call(name, Vec::new())),
            "++" | "--" => {
                self.advance();
                let operator = if symbol == "++" { Binary::Add } else { Binary::Subtract };
                let value = changed(operator, &name, &indices, one);
                return Ok(StatementKind::Assign { target: name, indices, value });
            }
            "+=" => Binary::Add,
            "-=" => Binary::Subtract,
            "*=" => Binary::Multiply,
            "/=" => Binary::Divide,
            "%=" => Binary::Remainder,
            "==" => {
                let error = Diagnostic::error("syntax", "`==` compares, and this is a statement", token.span);
                self.report(error.with_help("write `=`"));
                return Err(super::Unreadable);
            }
            _ => return self.unexpected("`=`"),
        };
        self.advance();
        let value = self.expression()?;
        let value = changed(operator, &name, &indices, value);
        Ok(StatementKind::Assign { target: name, indices, value })
    }
}
