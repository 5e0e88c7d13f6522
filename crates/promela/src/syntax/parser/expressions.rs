//! Expressions and temporal formulas, by precedence climbing.

use quotient_ir::{Diagnostic, Span};
use quotient_temporal::PathQuantifier;

use super::{Parsed, Parser};
use crate::syntax::token::TokenKind;
use crate::syntax::tree::{Binary, ChannelQuery, Domain, Expression, ExpressionKind, Member, Name, Quantified, Unary};

/// The level of the loosest operators that are no connectives.
const ABOVE_CONNECTIVES: u8 = 4;
/// The level of the loosest operators of expressions that are neither connectives nor temporal.
const ABOVE_TEMPORAL: u8 = 5;

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.binary(0)
    }

    fn binary_operator(&self) -> Option<(u8, Binary)> {
        let in_formula = self.in_formula;
        Some(match &self.peek().kind {
            TokenKind::Symbol(symbol) => match *symbol {
                "->" if in_formula => (1, Binary::Implies),
                "<->" if in_formula => (1, Binary::Equivalent),
                "||" => (2, Binary::Or),
                "&&" => (3, Binary::And),
                "\\/" if in_formula => (2, Binary::Or),
                "/\\" if in_formula => (3, Binary::And),
                "|" => (5, Binary::BitOr),
                "^" => (6, Binary::BitXor),
                "&" => (7, Binary::BitAnd),
                "==" => (8, Binary::Equal),
                "!=" => (8, Binary::NotEqual),
                "<" => (9, Binary::Less),
                "<=" => (9, Binary::LessOrEqual),
                ">" => (9, Binary::Greater),
                ">=" => (9, Binary::GreaterOrEqual),
                "<<" => (10, Binary::ShiftLeft),
                ">>" => (10, Binary::ShiftRight),
                "+" => (11, Binary::Add),
                "-" => (11, Binary::Subtract),
                "*" => (12, Binary::Multiply),
                "/" => (12, Binary::Divide),
                "%" => (12, Binary::Remainder),
                _ => return None,
            },
            TokenKind::Name(word) if in_formula => match &**word {
                "implies" => (1, Binary::Implies),
                "equivalent" => (1, Binary::Equivalent),
                "U" | "until" | "stronguntil" => (4, Binary::Until),
                "W" | "weakuntil" => (4, Binary::WeakUntil),
                "V" | "release" => (4, Binary::Release),
                // These are names to SPIN, and here as well where the model has them.
                _ if self.names.contains(word) => return None,
                "R" => (4, Binary::Release),
                "M" => (4, Binary::StrongRelease),
                "S" | "since" => (4, Binary::Since),
                "T" | "triggered" => (4, Binary::Triggered),
                "or" => (2, Binary::Or),
                "and" => (3, Binary::And),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn binary(&mut self, least: u8) -> Parsed<Expression> {
        let mut left = self.nested(Self::operand)?;
        let mut length = 0;
        while let Some((level, operator)) = self.binary_operator() {
            if level < least {
                break;
            }
            length += 1;
            if length > super::CHAIN_LIMIT {
                return self.fail("too-deep", format!("more than {} operators in a row", super::CHAIN_LIMIT));
            }
            self.position += 1;
            let right = self.nested(|parser| parser.binary(level + 1))?;
            let span = self.through(left.span, right.span);
            left = Expression { kind: ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn unary(&mut self, operator: Unary) -> Parsed<Expression> {
        let span = self.span();
        self.position += 1;
        let operand = self.nested(Self::operand)?;
        let span = self.through(span, operand.span);
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span })
    }

    /// A temporal operator before its operand, which ends at the next connective or temporal operator.
    fn temporal(&mut self, operator: Unary) -> Parsed<Expression> {
        let mut span = self.span();
        if self.at("[") {
            self.position += 1;
            span = self.through(span, self.span());
        }
        self.position += 1;
        let start = self.position;
        let operand = self.nested(|parser| parser.binary(ABOVE_TEMPORAL))?;
        let whole = self.through(span, operand.span);
        let compares = matches!(operand.kind, ExpressionKind::Binary(..)) && !self.is_enclosed(start);
        if compares && !self.given_separately {
            let text = |span: Span| self.source.text.get(span.start as usize..span.end as usize).unwrap_or("…");
            let (symbol, inner) = (text(span), text(operand.span));
            let message = format!("SPIN does not read this as `{symbol} ({inner})`");
            let help = "SPIN compares the formula before the operator; write the parentheses";
            self.report_warning(Diagnostic::warning("precedence", message, whole).with_help(help));
        }
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span: whole })
    }

    /// Whether what was read since a position is one group in parentheses.
    fn is_enclosed(&self, start: usize) -> bool {
        let mut depth = 0usize;
        for at in start..self.position {
            if self.tokens[at].is("(") {
                depth += 1;
            } else if self.tokens[at].is(")") {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 && at + 1 < self.position {
                return false;
            }
        }
        true
    }

    /// `A` or `E` before a formula in brackets, or before one that ends at the next connective.
    fn path(&mut self, quantifier: PathQuantifier) -> Parsed<Expression> {
        let span = self.span();
        self.position += 1;
        let operand = if self.at("[") && !self.peek_at(1).is("]") {
            self.position += 1;
            let inner = self.nested(Self::expression)?;
            self.expect("]", "after the formula of a path quantifier")?;
            inner
        } else {
            self.nested(|parser| parser.binary(ABOVE_CONNECTIVES))?
        };
        Ok(Expression { kind: ExpressionKind::Path(quantifier, Box::new(operand)), span: self.so_far(span) })
    }

    /// `AG f` and the like.
    fn path_and_operator(&mut self, quantifier: PathQuantifier, operator: Unary) -> Parsed<Expression> {
        let inner = self.temporal(operator)?;
        let span = inner.span;
        Ok(Expression { kind: ExpressionKind::Path(quantifier, Box::new(inner)), span })
    }

    /// `forall p : P : f`, where `P` is a process type, or `forall i : 0 .. 3 : f`.
    fn quantified(&mut self, universal: bool) -> Parsed<Expression> {
        let span = self.span();
        self.position += 1;
        let variable = self.name("the variable of a quantifier")?;
        self.expect(":", "after the variable of a quantifier")?;
        let is_type = matches!(&self.peek().kind, TokenKind::Name(_)) && self.peek_at(1).is(":");
        let domain = if is_type {
            Domain::Processes(self.name("a process type")?)
        } else {
            let low = self.nested(|parser| parser.binary(ABOVE_TEMPORAL))?;
            if !self.at("..") {
                let found = self.peek().describe();
                let message = format!("expected `..` in the range of a quantifier, found {found}");
                self.report(
                    Diagnostic::error("syntax", message, self.span())
                        .with_help("a quantifier ranges over a process type, or over `0 .. 3`"),
                );
                return Err(super::Unreadable);
            }
            self.position += 1;
            let high = self.nested(|parser| parser.binary(ABOVE_TEMPORAL))?;
            Domain::Range(low, high)
        };
        self.expect(":", "after what a quantifier ranges over")?;
        let body = self.nested(Self::expression)?;
        let quantified = Quantified { universal, variable, domain, body };
        Ok(Expression { kind: ExpressionKind::Quantified(Box::new(quantified)), span: self.so_far(span) })
    }

    /// An operand with the operators before it.
    pub(super) fn operand(&mut self) -> Parsed<Expression> {
        let token = self.peek().clone();
        let span = token.span;
        match &token.kind {
            TokenKind::Symbol("!") => self.unary(Unary::Not),
            TokenKind::Symbol("!!") => {
                let inner = self.unary(Unary::Not)?;
                let span = inner.span;
                Ok(Expression { kind: ExpressionKind::Unary(Unary::Not, Box::new(inner)), span })
            }
            TokenKind::Symbol("~") => self.unary(Unary::Complement),
            TokenKind::Symbol("-") => self.unary(Unary::Negate),
            TokenKind::Symbol("--") => {
                let inner = self.unary(Unary::Negate)?;
                let span = inner.span;
                Ok(Expression { kind: ExpressionKind::Unary(Unary::Negate, Box::new(inner)), span })
            }
            TokenKind::Symbol("<>") if self.in_formula => self.temporal(Unary::Eventually),
            TokenKind::Symbol("[") if self.in_formula && self.peek_at(1).is("]") => self.temporal(Unary::Always),
            TokenKind::Number(value) => {
                self.position += 1;
                Ok(Self::number(*value, span))
            }
            TokenKind::Text(text) => {
                self.position += 1;
                Ok(Expression { kind: ExpressionKind::Text(text.clone()), span })
            }
            TokenKind::Symbol("(") => {
                self.position += 1;
                let mut inner = self.nested(Self::expression)?;
                if !self.in_formula && self.take("->") {
                    let then = self.nested(Self::expression)?;
                    self.expect(":", "in a conditional expression")?;
                    let otherwise = self.nested(Self::expression)?;
                    let kind = ExpressionKind::Conditional(Box::new(inner), Box::new(then), Box::new(otherwise));
                    inner = Expression { kind, span };
                }
                self.expect(")", "after an expression")?;
                inner.span = self.so_far(span);
                Ok(inner)
            }
            TokenKind::Name(word) => self.word(&word.clone()),
            _ => {
                let message = format!("expected an expression, found {}", token.describe());
                self.fail("syntax", message)
            }
        }
    }

    /// An operand that begins with a word.
    fn word(&mut self, word: &str) -> Parsed<Expression> {
        let span = self.span();
        let plain = |kind| Ok(Expression { kind, span });
        if self.in_formula {
            use PathQuantifier::{All, Some as Exists};
            match word {
                "always" => return self.temporal(Unary::Always),
                "eventually" => return self.temporal(Unary::Eventually),
                "X" | "next" => return self.temporal(Unary::Next),
                // These are names to SPIN, and here as well where the model has them.
                _ if self.names.contains(word) => {}
                "G" => return self.temporal(Unary::Always),
                "F" => return self.temporal(Unary::Eventually),
                "Y" | "yesterday" => return self.temporal(Unary::Yesterday),
                "Z" => return self.temporal(Unary::WeakYesterday),
                "O" | "once" => return self.temporal(Unary::Once),
                "H" | "historically" => return self.temporal(Unary::Historically),
                "not" => return self.unary(Unary::Not),
                "A" => return self.path(All),
                "E" => return self.path(Exists),
                "AG" => return self.path_and_operator(All, Unary::Always),
                "AF" => return self.path_and_operator(All, Unary::Eventually),
                "AX" => return self.path_and_operator(All, Unary::Next),
                "EG" => return self.path_and_operator(Exists, Unary::Always),
                "EF" => return self.path_and_operator(Exists, Unary::Eventually),
                "EX" => return self.path_and_operator(Exists, Unary::Next),
                "forall" => return self.quantified(true),
                "exists" => return self.quantified(false),
                _ => {}
            }
        }
        match word {
            "true" | "false" => {
                self.position += 1;
                plain(ExpressionKind::Truth(word == "true"))
            }
            "skip" => {
                self.position += 1;
                plain(ExpressionKind::Number(1))
            }
            "timeout" => {
                self.position += 1;
                plain(ExpressionKind::Timeout)
            }
            "np_" => {
                self.position += 1;
                plain(ExpressionKind::NonProgress)
            }
            "len" | "full" | "nfull" | "empty" | "nempty" => {
                let query = match word {
                    "len" => ChannelQuery::Length,
                    "full" => ChannelQuery::Full,
                    "nfull" => ChannelQuery::NotFull,
                    "empty" => ChannelQuery::Empty,
                    _ => ChannelQuery::NotEmpty,
                };
                let (argument, span) = self.argument()?;
                Ok(Expression { kind: ExpressionKind::ChannelQuery(query, Box::new(argument)), span })
            }
            "eval" => {
                let (argument, span) = self.argument()?;
                Ok(Expression { kind: ExpressionKind::Eval(Box::new(argument)), span })
            }
            "enabled" => {
                let (argument, span) = self.argument()?;
                Ok(Expression { kind: ExpressionKind::Enabled(Box::new(argument)), span })
            }
            "pc_value" => {
                let (argument, span) = self.argument()?;
                Ok(Expression { kind: ExpressionKind::PcValue(Box::new(argument)), span })
            }
            "get_priority" => {
                let (argument, span) = self.argument()?;
                Ok(Expression { kind: ExpressionKind::Priority(Box::new(argument)), span })
            }
            "c_expr" => {
                self.embedded_c();
                plain(ExpressionKind::Number(1))
            }
            "run" => self.run(),
            _ => {
                let name = self.name("an expression")?;
                self.reference_from(name)
            }
        }
    }

    /// `word ( expression )`
    fn argument(&mut self) -> Parsed<(Expression, quotient_ir::Span)> {
        let span = self.span();
        let word = self.next().describe();
        self.expect("(", &format!("after {word}"))?;
        let argument = self.nested(Self::expression)?;
        self.expect(")", &format!("after the argument of {word}"))?;
        Ok((argument, self.so_far(span)))
    }

    fn run(&mut self) -> Parsed<Expression> {
        let span = self.span();
        self.position += 1;
        let proctype = self.name("the name of a process type")?;
        self.expect("(", "after the name of a process type")?;
        let arguments = self.arguments(")")?;
        self.expect(")", "after the arguments of a process")?;
        let priority = if self.take_word("priority") { Some(Box::new(self.operand()?)) } else { None };
        let kind = ExpressionKind::Run { proctype, arguments, priority };
        Ok(Expression { kind, span: self.so_far(span) })
    }

    /// Expressions separated by commas, up to a closing bracket.
    pub(super) fn arguments(&mut self, close: &str) -> Parsed<Vec<Expression>> {
        let mut arguments = Vec::new();
        while !self.at(close) && !self.at_end() {
            arguments.push(self.nested(Self::expression)?);
            if !self.take(",") {
                break;
            }
        }
        Ok(arguments)
    }

    /// The fields and indices after a name.
    fn parts_from(&mut self, name: Name) -> Parsed<Vec<Member>> {
        let mut parts = Vec::new();
        let mut name = name;
        loop {
            let index = if self.at("[") && !(self.in_formula && self.peek_at(1).is("]")) {
                self.position += 1;
                let index = self.nested(Self::expression)?;
                self.expect("]", "after an index")?;
                Some(Box::new(index))
            } else {
                None
            };
            parts.push(Member { name, index });
            if !self.take(".") {
                return Ok(parts);
            }
            name = self.name("the name of a field")?;
        }
    }

    /// A reference to a variable.
    pub(super) fn reference(&mut self) -> Parsed<Expression> {
        let name = self.name("a variable")?;
        let span = name.span;
        let parts = self.parts_from(name)?;
        Ok(Expression { kind: ExpressionKind::Reference(parts), span: self.so_far(span) })
    }

    /// What can begin with a name: a variable, a poll, a reference into another process.
    fn reference_from(&mut self, name: Name) -> Parsed<Expression> {
        let span = name.span;
        let parts = self.parts_from(name)?;
        let whole = |parser: &Self| parser.so_far(span);
        if let [part] = &parts[..] {
            let remote_variable = self.at(":")
                && self.proctypes.contains(&part.name.text)
                && matches!(&self.peek_at(1).kind, TokenKind::Name(word) if !Self::is_keyword(word));
            if self.at("@") || remote_variable {
                let part = part.clone();
                let at = self.at("@");
                self.position += 1;
                let name = self.name(if at { "a label" } else { "a variable of a process" })?;
                let kind = if at {
                    ExpressionKind::AtLabel { proctype: part.name, process: part.index, label: name }
                } else {
                    let variable = self.parts_from(name)?;
                    ExpressionKind::RemoteVariable { proctype: part.name, process: part.index, variable }
                };
                return Ok(Expression { kind, span: whole(self) });
            }
        }
        let reference = Expression { kind: ExpressionKind::Reference(parts), span: whole(self) };
        if (self.at("?") || self.at("??")) && self.peek_at(1).is("[") {
            let random = self.at("??");
            self.position += 2;
            let arguments = self.receive_arguments("]")?;
            self.expect("]", "after the pattern of a poll")?;
            let kind = ExpressionKind::Poll { channel: Box::new(reference), random, arguments };
            return Ok(Expression { kind, span: whole(self) });
        }
        Ok(reference)
    }

    /// The pattern of a receive: `a,b`, `a(b,c)`, constants, `eval(x)`, `_`.
    pub(super) fn receive_arguments(&mut self, close: &str) -> Parsed<Vec<Expression>> {
        let mut arguments = Vec::new();
        // All of it may be in parentheses.
        if self.at("(") {
            self.position += 1;
            let arguments = self.nested(|parser| parser.receive_arguments(")"))?;
            self.expect(")", "after the pattern of a receive")?;
            return Ok(arguments);
        }
        loop {
            let argument = match &self.peek().kind {
                TokenKind::Name(word) if &**word == "eval" => self.operand()?,
                TokenKind::Name(word) if &**word == "true" || &**word == "false" => self.operand()?,
                TokenKind::Name(word) if !Self::is_keyword(word) => self.reference()?,
                TokenKind::Number(_) | TokenKind::Symbol("-") => self.operand()?,
                _ => {
                    let message = format!(
                        "expected a variable, a constant or `eval` in the pattern of a receive, found {}",
                        self.peek().describe()
                    );
                    self.report(Diagnostic::error("syntax", message, self.span()));
                    return Err(super::Unreadable);
                }
            };
            arguments.push(argument);
            if self.take("(") {
                arguments.extend(self.nested(|parser| parser.receive_arguments(")"))?);
                self.expect(")", "after the pattern of a receive")?;
                return Ok(arguments);
            }
            if !self.take(",") || self.at(close) {
                return Ok(arguments);
            }
        }
    }
}
