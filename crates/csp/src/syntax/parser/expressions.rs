//! Expressions, and the ranges of indices.

use quotient_kit::tokens::TokenKind;

use super::{BRACKET, Parsed, Parser};
use crate::syntax::tree::{Binary, Expression, ExpressionKind, Name, Range, RangeValues, Unary};

/// Binary operators by precedence, the weakest first.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("xor", Binary::Xor)],
    &[("|", Binary::BitOr)],
    &[("^", Binary::BitXor)],
    &[("&", Binary::BitAnd)],
    &[("==", Binary::Equal), ("!=", Binary::NotEqual)],
    &[("<=", Binary::LessOrEqual), (">=", Binary::GreaterOrEqual), ("<", Binary::Less), (">", Binary::Greater)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];

/// The level of comparisons.
const COMPARISON: usize = 6;

/// The level of sums.
const ADDITIVE: usize = 8;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.level(0)
    }

    /// An expression without comparisons: what stands between dots and in ranges.
    pub(super) fn additive(&mut self) -> Parsed<Expression> {
        self.level(ADDITIVE)
    }

    /// An expression without connectives.
    pub(super) fn comparison(&mut self) -> Parsed<Expression> {
        self.level(COMPARISON)
    }

    fn level(&mut self, level: usize) -> Parsed<Expression> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let depth = self.depth;
        if level == 0 {
            self.deeper(BRACKET)?;
        }
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(level) {
            self.advance();
            let right = self.level(level + 1)?;
            let span = left.span.to(right.span);
            left = Expression { kind: ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span };
            // A long sum is a deep tree.
            self.deeper(1)?;
        }
        self.depth = depth;
        Ok(left)
    }

    fn operator(&self, level: usize) -> Option<Binary> {
        let fits = |symbol: &str| self.peek().is(symbol) || symbol == "xor" && self.is_word("xor");
        LEVELS[level].iter().find(|(symbol, _)| fits(symbol)).map(|(_, operator)| *operator)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let start = self.peek().span;
        let operator = if self.peek().is("!") {
            Unary::Not
        } else if self.peek().is("-") {
            Unary::Minus
        } else if self.peek().is("&&") || self.peek().is("||") {
            return self.quantified();
        } else {
            return self.primary();
        };
        self.advance();
        self.deeper(1)?;
        let operand = self.unary()?;
        self.depth -= 1;
        let span = start.to(operand.span);
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span })
    }

    fn quantified(&mut self) -> Parsed<Expression> {
        let universal = self.peek().is("&&");
        let start = self.advance();
        let ranges = self.ranges()?;
        let body = Box::new(self.expression()?);
        let span = start.to(body.span);
        Ok(Expression { kind: ExpressionKind::Quantified { universal, ranges, body }, span })
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let token = self.peek().clone();
        let start = token.span;
        let kind = match token.kind {
            TokenKind::Number(value) => {
                self.advance();
                ExpressionKind::Number(value)
            }
            TokenKind::Keyword(word @ ("true" | "false")) => {
                self.advance();
                ExpressionKind::Truth(word == "true")
            }
            TokenKind::Symbol("(") => {
                self.advance();
                let inner = self.expression()?;
                let end = self.expect(")", "after an expression")?;
                return Ok(Expression { span: start.to(end), ..inner });
            }
            TokenKind::Symbol("#" | "$") => {
                self.advance();
                self.name("the name of a process")?;
                self.arguments()?;
                ExpressionKind::Foreign("counters of processes")
            }
            TokenKind::Name(text) => {
                self.advance();
                let name = Name { text, span: token.span };
                if &*name.text == "call" && self.peek().is("(") {
                    self.advance();
                    let called = self.name("the name of what is called")?;
                    let mut arguments = Vec::new();
                    while self.take(",") {
                        arguments.push(self.expression()?);
                    }
                    self.expect(")", "after the arguments")?;
                    ExpressionKind::Call(called, arguments)
                } else if &*name.text == "new" && matches!(self.peek().kind, TokenKind::Name(_)) {
                    let class = self.name("the name of a class")?;
                    ExpressionKind::New(class, self.arguments()?)
                } else if self.peek().is(".")
                    && matches!(self.ahead(1).kind, TokenKind::Name(_))
                    && self.ahead(2).is("(")
                {
                    self.advance();
                    let method = self.name("the name of a method")?;
                    ExpressionKind::Method(name, method, self.arguments()?)
                } else if self.peek().is("[") {
                    let indices = self.indices()?;
                    ExpressionKind::Element(name, indices)
                } else {
                    ExpressionKind::Name(name.text)
                }
            }
            _ => return self.unexpected("an expression"),
        };
        Ok(Expression { kind, span: start.to(self.before()) })
    }

    /// `(a, b)`, perhaps nothing.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        let mut arguments = Vec::new();
        if !self.take("(") {
            return Ok(arguments);
        }
        if !self.peek().is(")") {
            arguments.push(self.expression()?);
            while self.take(",") {
                arguments.push(self.expression()?);
            }
        }
        self.expect(")", "after the arguments")?;
        Ok(arguments)
    }

    /// `x:{0..1}; y:{2, 3} @`
    pub(super) fn ranges(&mut self) -> Parsed<Vec<Range>> {
        let mut ranges = vec![self.range()?];
        while self.take(";") || self.take(",") {
            ranges.push(self.range()?);
        }
        self.expect("@", "after the range of an index")?;
        Ok(ranges)
    }

    fn range(&mut self) -> Parsed<Range> {
        let start = self.peek().span;
        let mut variable = None;
        if !self.peek().is("{") {
            variable = Some(self.name("an index")?);
            self.expect(":", "between an index and its range")?;
        }
        self.expect("{", "before a range")?;
        let values = if self.take("..") {
            RangeValues::Unknown
        } else {
            let first = self.additive()?;
            if self.take("..") {
                RangeValues::Interval(first, self.additive()?)
            } else {
                let mut values = vec![first];
                while self.take(",") {
                    values.push(self.additive()?);
                }
                RangeValues::List(values)
            }
        };
        let end = self.expect("}", "after a range")?;
        Ok(Range { variable, values, span: start.to(end) })
    }
}
