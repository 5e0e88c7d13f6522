//! Expressions, by precedence climbing. Lowest first: `?:`, `->`, `||`, `&&`, `|`, `^`, `&`, `!`, the comparisons,
//! shifts, sums, products with the signs, `~`. The conditional, the implication and the comparisons do not associate.
//! `!` binds looser than a comparison, and wherever it occurs its operand is everything that binds tighter:
//! `a = !b = c` is `a = !(b = c)`.

use quotient_ir::{Diagnostic, Span};

use super::{Construct, Parsed, Parser, Reported, Tall};
use crate::syntax::token::TokenKind;
use crate::syntax::tree::{BinaryOperator, Expr, ExprKind, Quantifier, QuantifierRange, UnaryOperator};

/// Whoever writes octal numbers knows after a few warnings.
const MAXIMUM_WARNINGS: usize = 5;

/// Longer chains of one associative operator become balanced trees, so that a generated condition of a thousand terms
/// is not a thousand levels deep. Grouping does not affect the result: the operands are evaluated in order, and
/// evaluation stops at the same one.
const LONGEST_LEANING_CHAIN: usize = 32;

mod precedence {
    pub(super) const LOWEST: u8 = 0;
    pub(super) const CONDITIONAL: u8 = 1;
    pub(super) const IMPLIES: u8 = 2;
    pub(super) const OR_OR: u8 = 3;
    pub(super) const AND_AND: u8 = 4;
    pub(super) const PIPE: u8 = 5;
    pub(super) const CARET: u8 = 6;
    pub(super) const AMPERSAND: u8 = 7;
    pub(super) const NOT: u8 = 8;
    pub(super) const COMPARISON: u8 = 9;
    pub(super) const SHIFT: u8 = 10;
    pub(super) const SUM: u8 = 11;
    pub(super) const PRODUCT: u8 = 12;
    pub(super) const COMPLEMENT: u8 = 13;
}

fn binary_operator(kind: TokenKind) -> Option<(u8, BinaryOperator)> {
    Some(match kind {
        TokenKind::Implies => (precedence::IMPLIES, BinaryOperator::Implies),
        TokenKind::OrOr => (precedence::OR_OR, BinaryOperator::OrOr),
        TokenKind::AndAnd => (precedence::AND_AND, BinaryOperator::AndAnd),
        TokenKind::Pipe => (precedence::PIPE, BinaryOperator::Pipe),
        TokenKind::Caret => (precedence::CARET, BinaryOperator::Caret),
        TokenKind::Ampersand => (precedence::AMPERSAND, BinaryOperator::Ampersand),
        TokenKind::Equal | TokenKind::DoubleEqual => (precedence::COMPARISON, BinaryOperator::Equal),
        TokenKind::NotEqual => (precedence::COMPARISON, BinaryOperator::NotEqual),
        TokenKind::Less => (precedence::COMPARISON, BinaryOperator::Less),
        TokenKind::LessOrEqual => (precedence::COMPARISON, BinaryOperator::LessOrEqual),
        TokenKind::Greater => (precedence::COMPARISON, BinaryOperator::Greater),
        TokenKind::GreaterOrEqual => (precedence::COMPARISON, BinaryOperator::GreaterOrEqual),
        TokenKind::ShiftLeft => (precedence::SHIFT, BinaryOperator::ShiftLeft),
        TokenKind::ShiftRight => (precedence::SHIFT, BinaryOperator::ShiftRight),
        TokenKind::Plus => (precedence::SUM, BinaryOperator::Add),
        TokenKind::Minus => (precedence::SUM, BinaryOperator::Subtract),
        TokenKind::Star => (precedence::PRODUCT, BinaryOperator::Multiply),
        TokenKind::Slash => (precedence::PRODUCT, BinaryOperator::Divide),
        TokenKind::Percent => (precedence::PRODUCT, BinaryOperator::Remainder),
        _ => return None,
    })
}

/// Whether regrouping a chain of this operator changes nothing at all. Sums do not qualify: they
/// can overflow.
fn can_be_balanced(operator: BinaryOperator) -> bool {
    matches!(operator, BinaryOperator::OrOr | BinaryOperator::AndAnd | BinaryOperator::Pipe | BinaryOperator::Ampersand)
}

pub(super) fn missing(span: Span) -> Expr {
    Expr { kind: ExprKind::Missing, span }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        Ok(self.tall_expression()?.node)
    }

    pub(super) fn tall_expression(&mut self) -> Parsed<Tall<Expr>> {
        self.binary(precedence::LOWEST)
    }

    /// An expression of operators that bind at least this tightly.
    fn binary(&mut self, least: u8) -> Parsed<Tall<Expr>> {
        self.nested(|parser| {
            let mut left = parser.prefix()?;
            // What does not associate is reported once, and has no meaning to check.
            let mut last = None;
            let mut refused = false;
            loop {
                if parser.at(TokenKind::Question) && precedence::CONDITIONAL >= least && !parser.at_limit() {
                    refused = refused || parser.refuse_chain(last, precedence::CONDITIONAL);
                    last = Some(precedence::CONDITIONAL);
                    left = parser.conditional(left)?;
                    continue;
                }
                let Some((level, operator)) = parser.operator_here().filter(|(level, _)| *level >= least) else {
                    if refused {
                        left.node.kind = ExprKind::Missing;
                    }
                    return Ok(left);
                };
                refused = refused || parser.refuse_chain(last, level);
                last = Some(level);
                left = parser.chain(left, level, operator)?;
            }
        })
    }

    /// The binary operator at the current token. A word of another language is reported and treated as the operator
    /// that it means.
    fn operator_here(&mut self) -> Option<(u8, BinaryOperator)> {
        if self.at_limit() {
            return None;
        }
        if !self.at(TokenKind::Identifier) || !self.next_kind().starts_expression() {
            return binary_operator(self.kind());
        }
        let words = [
            ("and", TokenKind::Ampersand),
            ("or", TokenKind::Pipe),
            ("xor", TokenKind::Caret),
            ("mod", TokenKind::Percent),
            ("div", TokenKind::Slash),
        ];
        let (_, meant) = words.into_iter().find(|(word, _)| self.is_word(0, word))?;
        self.expected("an operator");
        binary_operator(meant)
    }

    /// Whether the expression ends here although an operator follows, which belongs to the formula around it.
    fn at_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.span().start >= limit)
    }

    /// Reports a second operator of a kind that does not associate.
    fn refuse_chain(&mut self, last: Option<u8>, level: u8) -> bool {
        let associates = !matches!(level, precedence::CONDITIONAL | precedence::IMPLIES | precedence::COMPARISON);
        if associates || last != Some(level) {
            return false;
        }
        let message = format!("{} does not associate", self.kind().shown());
        let diagnostic = Diagnostic::error("syntax", message, self.span());
        self.report(diagnostic.with_help("use parentheses to say what belongs together"));
        true
    }

    /// `left op right op …` for one operator at the current token.
    fn chain(&mut self, left: Tall<Expr>, level: u8, operator: BinaryOperator) -> Parsed<Tall<Expr>> {
        if !can_be_balanced(operator) {
            self.advance();
            let right = self.binary(level + 1)?;
            return self.join(operator, left, right);
        }
        let mut operands = vec![left];
        while self.operator_here() == Some((level, operator)) {
            self.advance();
            operands.push(self.binary(level + 1)?);
        }
        if operands.len() > LONGEST_LEANING_CHAIN {
            return self.balance(operator, operands);
        }
        let mut operands = operands.into_iter();
        let mut joined = operands.next().ok_or(Reported)?;
        for operand in operands {
            joined = self.join(operator, joined, operand)?;
        }
        Ok(joined)
    }

    fn balance(&mut self, operator: BinaryOperator, mut operands: Vec<Tall<Expr>>) -> Parsed<Tall<Expr>> {
        while operands.len() > 1 {
            let mut joined = Vec::with_capacity(operands.len().div_ceil(2));
            let mut pairs = operands.into_iter();
            while let Some(left) = pairs.next() {
                joined.push(match pairs.next() {
                    Some(right) => self.join(operator, left, right)?,
                    None => left,
                });
            }
            operands = joined;
        }
        operands.pop().ok_or(Reported)
    }

    fn join(&mut self, operator: BinaryOperator, left: Tall<Expr>, right: Tall<Expr>) -> Parsed<Tall<Expr>> {
        let span = left.node.span.to(right.node.span);
        let height = left.height.max(right.height);
        let kind = ExprKind::Binary { operator, left: Box::new(left.node), right: Box::new(right.node) };
        self.tall(kind, span, height)
    }

    /// A node above others of this height.
    fn tall(&mut self, kind: ExprKind, span: Span, height: u32) -> Parsed<Tall<Expr>> {
        self.nodes += 1;
        self.check_height(height + 1)?;
        Ok(Tall { node: Expr { kind, span }, height: height + 1 })
    }

    /// The rest of `condition ? then : otherwise`.
    fn conditional(&mut self, condition: Tall<Expr>) -> Parsed<Tall<Expr>> {
        self.advance();
        let then = self.binary(precedence::LOWEST)?;
        self.expect(TokenKind::Colon)?;
        let otherwise = self.binary(precedence::IMPLIES)?;
        let span = condition.node.span.to(otherwise.node.span);
        let height = condition.height.max(then.height).max(otherwise.height);
        let kind = ExprKind::Conditional {
            condition: Box::new(condition.node),
            then: Box::new(then.node),
            otherwise: Box::new(otherwise.node),
        };
        self.tall(kind, span, height)
    }

    fn prefix(&mut self) -> Parsed<Tall<Expr>> {
        let start = self.span();
        let (operator, level) = match self.kind() {
            TokenKind::Not => (UnaryOperator::Not, precedence::NOT),
            TokenKind::Plus => (UnaryOperator::Plus, precedence::COMPLEMENT),
            TokenKind::Minus => (UnaryOperator::Minus, precedence::COMPLEMENT),
            TokenKind::Tilde => (UnaryOperator::Complement, precedence::COMPLEMENT),
            _ if self.at_foreign_negation() => {
                self.expected("an expression");
                (UnaryOperator::Not, precedence::NOT)
            }
            _ => return self.primary(),
        };
        self.advance();
        if operator == UnaryOperator::Minus && self.at(TokenKind::Number) && self.is_least_number() {
            self.advance();
            return self.tall(ExprKind::Number(i64::MIN), self.since(start), 0);
        }
        let operand = self.binary(level)?;
        let span = start.to(operand.node.span);
        self.tall(ExprKind::Unary { operator, operand: Box::new(operand.node) }, span, operand.height)
    }

    /// Whether the current token is `not` before an operand, rather than a name before the next declaration.
    fn at_foreign_negation(&self) -> bool {
        self.is_word(0, "not")
            && self.next_kind() == TokenKind::Identifier
            && !matches!(self.token(2).kind, TokenKind::Colon | TokenKind::Comma)
    }

    fn primary(&mut self) -> Parsed<Tall<Expr>> {
        let start = self.span();
        match self.kind() {
            TokenKind::Identifier if self.at_operation("ismember") => self.is_member(),
            TokenKind::Identifier if self.at_operation("multisetcount") => self.multiset_count(),
            TokenKind::Identifier if self.next_kind() == TokenKind::LeftParenthesis => {
                let function = self.name()?;
                let arguments = self.arguments()?;
                let height = arguments.height;
                self.tall(ExprKind::Call { function, arguments: arguments.node }, self.since(start), height)
            }
            TokenKind::Identifier if self.at_undefined() => {
                self.advance();
                self.uses_undefined = true;
                self.tall(ExprKind::Undefined, start, 0)
            }
            TokenKind::Identifier => self.tall_designator(),
            TokenKind::Number => self.number(),
            TokenKind::LeftParenthesis => {
                self.advance();
                let mut inner = self.binary(precedence::LOWEST)?;
                self.close_parenthesis(start)?;
                inner.node.span = self.since(start);
                Ok(inner)
            }
            TokenKind::Forall | TokenKind::Exists => self.quantified(),
            TokenKind::IsUndefined => {
                self.advance();
                self.expect(TokenKind::LeftParenthesis)?;
                let designator = self.tall_designator()?;
                self.close_parenthesis(start)?;
                self.tall(ExprKind::IsUndefined(Box::new(designator.node)), self.since(start), designator.height)
            }
            TokenKind::RealNumber => {
                let diagnostic = Diagnostic::error("unsupported-real", "real numbers are not supported", start);
                self.report(diagnostic);
                self.advance();
                Ok(Tall { node: missing(start), height: 1 })
            }
            _ if self.at_keyword_as_operand() => self.tall_designator(),
            _ => Err(self.expected("an expression")),
        }
    }

    /// Whether the current token is CMurphi's word for no value.
    fn at_undefined(&self) -> bool {
        self.is_word(0, "undefined")
            && !self.declares_undefined
            && !matches!(self.next_kind(), TokenKind::Dot | TokenKind::LeftBracket)
    }

    pub(super) fn close_parenthesis(&mut self, start: Span) -> Parsed<()> {
        if self.eat(TokenKind::RightParenthesis) {
            return Ok(());
        }
        Err(self.expected_with("`)`", |diagnostic| diagnostic.with_secondary(start, "opened here")))
    }

    fn is_least_number(&self) -> bool {
        parse_number(self.slice(self.span())) == Ok(i64::MIN.unsigned_abs())
    }

    pub(super) fn number(&mut self) -> Parsed<Tall<Expr>> {
        let token = self.advance();
        let digits = self.slice(token.span);
        let too_large = "no number larger than 9223372036854775807 is supported";
        let (value, problem) = match parse_number(digits) {
            Ok(value) => match i64::try_from(value) {
                Ok(value) => (value, None),
                Err(_) => (0, Some(("the number is too large", too_large))),
            },
            Err(NumberError::TooLarge) => (0, Some(("the number is too large", too_large))),
            Err(NumberError::NotOctal) => {
                (0, Some(("invalid number", "a number that starts with 0 is octal: its digits are 0 to 7")))
            }
        };
        if value >= 8 && is_octal(digits) && self.warnings.len() < MAXIMUM_WARNINGS {
            let message = format!("the number `{digits}` is octal, because it starts with 0");
            let warning = Diagnostic::warning("octal-number", message, token.span);
            self.warnings.push(warning.with_label(format!("this is {value}")));
        }
        if let Some((message, help)) = problem {
            self.report(Diagnostic::error("invalid-number", message, token.span).with_help(help));
            return Ok(Tall { node: missing(token.span), height: 1 });
        }
        self.tall(ExprKind::Number(value), token.span, 0)
    }

    /// `a`, `a.b`, `a[i]`, `a[i, j]` and so on.
    pub(super) fn designator(&mut self) -> Parsed<Expr> {
        Ok(self.tall_designator()?.node)
    }

    fn tall_designator(&mut self) -> Parsed<Tall<Expr>> {
        let start = self.span();
        let name = self.name()?;
        let mut designator = self.tall(ExprKind::Name(name.text), name.span, 0)?;
        loop {
            if self.eat(TokenKind::Dot) {
                let field = self.field_name()?;
                let kind = ExprKind::Field { record: Box::new(designator.node), field };
                designator = self.tall(kind, self.since(start), designator.height)?;
            } else if self.at(TokenKind::LeftBracket) {
                let bracket = self.span();
                self.advance();
                loop {
                    let index = self.tall_expression()?;
                    if !self.at(TokenKind::Comma) && !self.at(TokenKind::RightBracket) {
                        return Err(
                            self.expected_with("`]`", |diagnostic| diagnostic.with_secondary(bracket, "opened here"))
                        );
                    }
                    let height = designator.height.max(index.height);
                    let last = self.advance().kind == TokenKind::RightBracket;
                    let kind = ExprKind::Index { array: Box::new(designator.node), index: Box::new(index.node) };
                    designator = self.tall(kind, self.since(start), height)?;
                    if last {
                        break;
                    }
                }
            } else {
                return Ok(designator);
            }
        }
    }

    /// A field's name after a full stop.
    fn field_name(&mut self) -> Parsed<crate::syntax::tree::Name> {
        if self.kind().is_keyword() {
            let token = self.token(0);
            self.report_keyword_as_name();
            self.advance();
            return Ok(self.name_of(token));
        }
        self.name()
    }

    /// `(a, b, …)` with an optional comma at the end.
    pub(super) fn arguments(&mut self) -> Parsed<Tall<Vec<Expr>>> {
        let start = self.span();
        self.expect(TokenKind::LeftParenthesis)?;
        let mut arguments = Tall { node: Vec::new(), height: 0 };
        while !self.at(TokenKind::RightParenthesis) {
            let argument = self.tall_expression()?;
            arguments.node.push(argument.node);
            arguments.height = arguments.height.max(argument.height);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close_parenthesis(start)?;
        Ok(arguments)
    }

    /// `forall i: T do … end`, with several quantifiers as in CMurphi.
    fn quantified(&mut self) -> Parsed<Tall<Expr>> {
        let start = self.span();
        let universal = self.advance().kind == TokenKind::Forall;
        self.open(if universal { Construct::FORALL } else { Construct::EXISTS }, start);
        let open = self.open.len();
        let parts = self.quantified_parts();
        self.open.truncate(open);
        let Ok((quantifiers, body)) = parts else {
            // The `end` of this expression must not be taken for that of the statement around it.
            self.skip_until(|kind| kind.is_end() || ends_expression(kind));
            self.open.pop();
            if !self.stopped
                && (if universal { Construct::FORALL } else { Construct::EXISTS }).is_closed_by(self.kind())
            {
                self.advance();
            }
            return if self.stopped { Err(Reported) } else { Ok(Tall { node: missing(self.since(start)), height: 1 }) };
        };
        self.close();
        let span = self.since(start);
        let mut whole = body;
        for quantifier in quantifiers.into_iter().rev() {
            let height = whole.height.max(quantifier.height);
            let (quantifier, body) = (Box::new(quantifier.node), Box::new(whole.node));
            let kind =
                if universal { ExprKind::Forall { quantifier, body } } else { ExprKind::Exists { quantifier, body } };
            whole = self.tall(kind, span, height)?;
        }
        Ok(whole)
    }

    fn quantified_parts(&mut self) -> Parsed<(Vec<Tall<Quantifier>>, Tall<Expr>)> {
        let quantifiers = self.quantifiers()?;
        self.expect_do()?;
        let body = self.tall_expression()?;
        Ok((quantifiers, body))
    }

    /// `do`, or CMurphi's `:` for it.
    pub(super) fn expect_do(&mut self) -> Parsed<()> {
        if self.eat(TokenKind::Do) || self.eat(TokenKind::Colon) {
            return Ok(());
        }
        Err(self.expected(TokenKind::Do.shown()))
    }

    /// Quantifiers with semicolons between them.
    pub(super) fn quantifiers(&mut self) -> Parsed<Vec<Tall<Quantifier>>> {
        let mut quantifiers = vec![self.quantifier()?];
        while self.semicolons() {
            quantifiers.push(self.quantifier()?);
        }
        Ok(quantifiers)
    }

    pub(super) fn quantifier(&mut self) -> Parsed<Tall<Quantifier>> {
        let start = self.span();
        let name = self.declared_name()?;
        if self.at(TokenKind::Equal) || self.at(TokenKind::DoubleEqual) {
            self.expected_with("`:` or `:=`", |it| it.with_help("a range of values is written `i := 1 to 3`"));
        }
        let (range, height) = if matches!(self.kind(), TokenKind::Assign | TokenKind::Equal | TokenKind::DoubleEqual) {
            self.advance();
            let from = self.tall_expression()?;
            self.expect(TokenKind::To)?;
            let to = self.tall_expression()?;
            let by = if self.eat(TokenKind::By) { Some(self.tall_expression()?) } else { None };
            let height = from.height.max(to.height).max(by.as_ref().map_or(0, |by| by.height));
            (QuantifierRange::Steps { from: from.node, to: to.node, by: by.map(|by| by.node) }, height)
        } else if self.at(TokenKind::Colon) || self.is_word(0, "in") {
            if !self.at(TokenKind::Colon) {
                self.expected_with("`:` or `:=`", |it| it.with_help("a quantifier is written `i: type`"));
            }
            self.advance();
            let ty = self.type_expression()?;
            (QuantifierRange::Type(ty.node), ty.height)
        } else {
            return Err(self.expected("`:` or `:=`"));
        };
        let span = self.since(start);
        Ok(Tall { node: Quantifier { name, range, span }, height: height + 1 })
    }

    /// `ismember(value, type)`.
    fn is_member(&mut self) -> Parsed<Tall<Expr>> {
        let start = self.span();
        self.advance();
        self.advance();
        let value = self.tall_expression()?;
        self.expect(TokenKind::Comma)?;
        let ty = self.type_expression()?;
        self.close_parenthesis(start)?;
        let height = value.height.max(ty.height);
        let kind = ExprKind::IsMember { value: Box::new(value.node), ty: Box::new(ty.node) };
        self.tall(kind, self.since(start), height)
    }

    /// `multisetcount(i: multiset, condition)`.
    fn multiset_count(&mut self) -> Parsed<Tall<Expr>> {
        let start = self.span();
        self.advance();
        self.advance();
        let name = self.name()?;
        self.expect(TokenKind::Colon)?;
        let multiset = self.tall_designator()?;
        self.expect(TokenKind::Comma)?;
        let condition = self.tall_expression()?;
        self.close_parenthesis(start)?;
        let height = multiset.height.max(condition.height);
        let kind =
            ExprKind::MultisetCount { name, multiset: Box::new(multiset.node), condition: Box::new(condition.node) };
        self.tall(kind, self.since(start), height)
    }
}

/// Whether no expression continues after it.
fn ends_expression(kind: TokenKind) -> bool {
    kind.starts_keyword_statement()
        || matches!(
            kind,
            TokenKind::Semicolon
                | TokenKind::Arrow
                | TokenKind::Then
                | TokenKind::Begin
                | TokenKind::Else
                | TokenKind::Elsif
                | TokenKind::Case
        )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberError {
    TooLarge,
    NotOctal,
}

fn is_octal(digits: &str) -> bool {
    digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.starts_with('0')
}

/// The value of a number as it is written: hexadecimal after `0x`, octal after `0`, as in rumur.
fn parse_number(digits: &str) -> Result<u64, NumberError> {
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => (hexadecimal, 16),
        None if is_octal(digits) => (digits, 8),
        None => (digits, 10),
    };
    if radix == 8 && digits.contains(['8', '9']) {
        return Err(NumberError::NotOctal);
    }
    u64::from_str_radix(digits, radix).map_err(|_| NumberError::TooLarge)
}
