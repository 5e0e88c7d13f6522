//! Expressions: operators of C with their precedences, and the words `not`, `and`, `or`, `imply`.
//!
//! The words bind like the symbols, as the guards and recorded state counts of BEEM require. An operand of `not` that
//! looks longer than it is gets a warning, and `imply` in a row is refused.

use quotient_ir::{Diagnostic, Span};
use quotient_kit::tokens::{Token, TokenKind};

use super::parser::{Parsed, Parser, Unreadable};
use super::tree::{Binary, Expression, ExpressionKind, Name, Unary};

/// The deepest nesting of expressions.
const NESTING_LIMIT: usize = 200;
/// The most operators of one expression without brackets; each makes the tree one level deeper.
const CHAIN_LIMIT: usize = 500;

/// The level of `imply`, the loosest.
const IMPLY: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;

/// An operand, and what has to be known about expressions that are easily misread.
struct Operand {
    expression: Expression,
    /// It begins with the word `not`, without brackets around it.
    negated: Option<Span>,
    /// Its outermost operator is `imply`, without brackets around it.
    implication: Option<Span>,
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        Ok(self.operators(0)?.expression)
    }

    fn operators(&mut self, least: u8) -> Parsed<Operand> {
        self.depth += 1;
        let result = if self.depth > NESTING_LIMIT {
            let span = self.peek().span;
            let error = Diagnostic::error("nested-too-deeply", "this expression is nested too deeply", span);
            self.report(error.with_help("split it, for example with a variable for a part of it"));
            Err(Unreadable)
        } else {
            self.operators_here(least)
        };
        self.depth -= 1;
        result
    }

    fn operators_here(&mut self, least: u8) -> Parsed<Operand> {
        let mut left = self.operand()?;
        let mut length = 0;
        while let Some((operator, level)) = operator(self.peek()) {
            if level < least {
                break;
            }
            let span = self.advance();
            length += 1;
            if length > CHAIN_LIMIT {
                let error = Diagnostic::error("nested-too-deeply", "there are too many operators in a row", span);
                self.report(error.with_help("put brackets around parts of the expression"));
                return Err(Unreadable);
            }
            let right = self.operators(level + 1)?;
            self.warn_of_misreadings(&left, (operator, level, span), &right);
            let whole = left.expression.span.to(right.expression.span);
            let negated = left.negated;
            let kind = ExpressionKind::Binary(operator, Box::new(left.expression), Box::new(right.expression));
            let implication = (operator == Binary::Imply).then_some(span);
            left = Operand { expression: Expression { kind, span: whole }, negated, implication };
        }
        Ok(left)
    }

    fn warn_of_misreadings(&mut self, left: &Operand, (operator, level, span): (Binary, u8, Span), right: &Operand) {
        if level > AND
            && let Some(not) = left.negated
        {
            let warning = Diagnostic::warning("misleading-not", "`not` applies only to what is left of this", span)
                .with_secondary(not, "this")
                .with_help("put brackets around the operand of `not`");
            self.report(warning);
        }
        if operator == Binary::Imply
            && let Some(other) = left.implication.or(right.implication)
        {
            let error = Diagnostic::error("ambiguous-imply", "`imply` in a row is ambiguous", span)
                .with_secondary(other, "together with this")
                .with_help("put brackets around one of the implications");
            self.report(error);
        }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let token = self.peek().clone();
        let unary = match &token.kind {
            TokenKind::Symbol("-") => Some(Unary::Negate),
            TokenKind::Symbol("~") => Some(Unary::Complement),
            TokenKind::Symbol("!") | TokenKind::Keyword("not") => Some(Unary::Not),
            _ => None,
        };
        if let Some(unary) = unary {
            self.advance();
            self.depth += 1;
            let operand = if self.depth > NESTING_LIMIT {
                let error = Diagnostic::error("nested-too-deeply", "this expression is nested too deeply", token.span);
                self.report(error);
                Err(Unreadable)
            } else {
                self.operand()
            };
            self.depth -= 1;
            let operand = operand?;
            let span = token.span.to(operand.expression.span);
            let kind = ExpressionKind::Unary(unary, Box::new(operand.expression));
            let negated = if token.is("not") { Some(token.span) } else { operand.negated };
            return Ok(Operand { expression: Expression { kind, span }, negated, implication: None });
        }
        let expression = match &token.kind {
            TokenKind::Number(value) => {
                self.advance();
                Expression { kind: ExpressionKind::Number(*value), span: token.span }
            }
            TokenKind::Keyword(word @ ("true" | "false")) => {
                self.advance();
                Expression { kind: ExpressionKind::Truth(*word == "true"), span: token.span }
            }
            TokenKind::Symbol("(") => {
                self.advance();
                let inner = self.expression()?;
                let end = self.expect(")", "to close the bracket")?;
                Expression { span: token.span.to(end), ..inner }
            }
            TokenKind::Name(_) => self.reference()?,
            _ => {
                let message = format!("an expression is expected, not {}", token.describe());
                self.report(Diagnostic::error("syntax", message, token.span));
                return Err(Unreadable);
            }
        };
        Ok(Operand { expression, negated: None, implication: None })
    }

    /// `x`, `x[i]`, `P->x`, `P->x[i]` or `P.s`.
    pub(super) fn reference(&mut self) -> Parsed<Expression> {
        let first = self.name("a variable")?;
        if self.take(".") {
            let state = self.name("the name of a state")?;
            let span = first.span.to(state.span);
            return Ok(Expression { kind: ExpressionKind::InState { process: first, state }, span });
        }
        let (process, name) = if self.take("->") {
            let variable = self.name("the name of a variable")?;
            (Some(first), variable)
        } else {
            (None, first)
        };
        let mut span = process.as_ref().map_or(name.span, |process: &Name| process.span).to(name.span);
        let mut index = None;
        if self.take("[") {
            index = Some(Box::new(self.expression()?));
            span = span.to(self.expect("]", "after the index")?);
        }
        Ok(Expression { kind: ExpressionKind::Variable { process, name, index }, span })
    }
}

/// The operator that a token is, and its level: higher ones bind more tightly.
fn operator(token: &Token) -> Option<(Binary, u8)> {
    let text = match token.kind {
        TokenKind::Symbol(text) | TokenKind::Keyword(text) => text,
        _ => return None,
    };
    Some(match text {
        "imply" => (Binary::Imply, IMPLY),
        "||" | "or" => (Binary::Or, OR),
        "&&" | "and" => (Binary::And, AND),
        "|" => (Binary::BitOr, 4),
        "^" => (Binary::BitXor, 5),
        "&" => (Binary::BitAnd, 6),
        "==" => (Binary::Equal, 7),
        "!=" => (Binary::NotEqual, 7),
        "<" => (Binary::Less, 8),
        "<=" => (Binary::LessOrEqual, 8),
        ">" => (Binary::Greater, 8),
        ">=" => (Binary::GreaterOrEqual, 8),
        "<<" => (Binary::ShiftLeft, 9),
        ">>" => (Binary::ShiftRight, 9),
        "+" => (Binary::Add, 10),
        "-" => (Binary::Subtract, 10),
        "*" => (Binary::Multiply, 11),
        "/" => (Binary::Divide, 11),
        "%" => (Binary::Remainder, 11),
        _ => return None,
    })
}
