//! The parser: precedence climbing over the operators of the logic; an operand is a longest run of tokens of an
//! expression.
//!
//! Parentheses and some connectives belong to both the logic and expressions. A group in parentheses is part of an
//! expression if an operator of expressions follows it (`(x + 1) * 2 == y`), and otherwise a formula. Parentheses and
//! brackets after a name are its arguments or its index. `! x == 3` is left to the language, in which the negation may
//! bind more tightly than the comparison.
//!
//! After an error the parser goes on as if the missing token were there, so that it reports all of them.

use super::lexer::{Token, TokenKind, tokens};
use super::tree::{Binary, Quantified, Quantifier, SyntaxId, SyntaxKind, SyntaxNode, SyntaxTree, Unary};
use super::vocabulary::{Meaning, suggestion};
use super::{Associativity, Dialect, Piece, Span, SyntaxError};
use crate::formula::PathQuantifier;

/// How deeply formulas may be nested.
const DEPTH_LIMIT: u32 = 256;
/// More errors than this are not worth reading.
const ERROR_LIMIT: usize = 20;

/// Parses a formula.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn parse(text: &str, dialect: &Dialect<'_>) -> Result<SyntaxTree, Vec<SyntaxError>> {
    let mut errors = Vec::new();
    if u32::try_from(text.len()).is_err() {
        return Err(vec![SyntaxError::new("too-long", "the formula is too long", Span::new(0, 0))]);
    }
    let tokens = tokens(text, dialect, &mut errors);
    let mut parser = Parser { text, dialect, tokens, at: 0, nodes: Vec::new(), errors, nesting: 0, gave_up: false };
    let root = parser.formula();
    if !parser.gave_up && parser.at < parser.tokens.len() {
        let token = parser.tokens[parser.at];
        let found = token.span.of(text);
        parser.report(
            SyntaxError::new("unexpected-token", format!("unexpected `{found}` after the formula"), token.span)
                .with_help("the formula ends before it"),
        );
    }
    let Parser { mut errors, nodes, .. } = parser;
    if errors.is_empty() {
        return Ok(SyntaxTree { nodes, root });
    }
    errors.sort_by_key(|error| error.span);
    errors.truncate(ERROR_LIMIT);
    Err(errors)
}

struct Parser<'a> {
    text: &'a str,
    dialect: &'a Dialect<'a>,
    tokens: Vec<Token>,
    at: usize,
    nodes: Vec<SyntaxNode>,
    errors: Vec<SyntaxError>,
    nesting: u32,
    /// Whether nesting is too deep; no more is read.
    gave_up: bool,
}

impl Parser<'_> {
    fn kind(&self, at: usize) -> Option<TokenKind> {
        if self.gave_up { None } else { self.tokens.get(at).map(|token| token.kind) }
    }
    fn peek(&self) -> Option<TokenKind> {
        self.kind(self.at)
    }
    /// The span of the current token, or the end of the text.
    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(Span::new(self.text.len(), self.text.len()), |token| token.span)
    }
    fn report(&mut self, error: SyntaxError) {
        self.errors.push(error);
    }
    fn push(&mut self, kind: SyntaxKind, span: Span, operator: Span) -> SyntaxId {
        let of = |id: &SyntaxId| self.nodes[id.0 as usize].depth;
        let depth = match &kind {
            SyntaxKind::Constant(_) | SyntaxKind::Atom => 0,
            SyntaxKind::Unary(_, a) | SyntaxKind::Path(_, a) => of(a) + 1,
            // A chain is lowered by a loop.
            SyntaxKind::Binary(operator @ (Binary::And | Binary::Or), a, b) if matches!(&self.nodes[a.0 as usize].kind, SyntaxKind::Binary(inner, ..) if inner == operator) => {
                of(a).max(of(b) + 1)
            }
            SyntaxKind::Binary(_, a, b) => of(a).max(of(b)) + 1,
            SyntaxKind::Quantified(quantified) => of(&quantified.body) + 1,
        };
        if depth > DEPTH_LIMIT {
            self.too_deep(operator);
        }
        let id = SyntaxId(self.nodes.len() as u32);
        self.nodes.push(SyntaxNode { kind, span, outer: span, operator, depth });
        id
    }
    fn too_deep(&mut self, span: Span) {
        if !self.gave_up {
            self.gave_up = true;
            self.report(
                SyntaxError::new("too-deep", format!("the formula is nested more than {DEPTH_LIMIT} times"), span)
                    .with_help("split it into several properties"),
            );
        }
    }
    fn outer(&self, id: SyntaxId) -> Span {
        self.nodes[id.0 as usize].outer
    }
    /// A node in place of one that is missing or wrong; the error was reported.
    fn missing(&mut self, span: Span) -> SyntaxId {
        self.push(SyntaxKind::Constant(true), span, span)
    }

    fn formula(&mut self) -> SyntaxId {
        self.binary(1)
    }

    /// A formula of operators that bind at least as tightly as a level.
    fn binary(&mut self, least: u8) -> SyntaxId {
        self.nesting += 1;
        if self.nesting > DEPTH_LIMIT {
            self.too_deep(self.here());
        }
        let mut left = self.unary();
        // The operator of the chain that is being read at this level, and where.
        let mut chain: Option<(Binary, Span)> = None;
        while let Some((operator, span)) = self.operator(least) {
            let level = operator.level();
            let associativity = match operator {
                Binary::And | Binary::Or => Associativity::Left,
                Binary::Implies | Binary::Equivalent => self.dialect.implication,
                _ => self.dialect.until,
            };
            if let Some((earlier, earlier_span)) = chain
                && earlier.level() == level
                && associativity != Associativity::Left
            {
                self.ambiguous(earlier_span, span);
            }
            chain = Some((operator, span));
            let right = match associativity {
                Associativity::Right => self.right_chain(operator, span),
                _ => self.binary_above(level),
            };
            let whole = self.outer(left).to(self.outer(right));
            left = self.push(SyntaxKind::Binary(operator, left, right), whole, span);
        }
        self.nesting -= 1;
        left
    }
    fn binary_above(&mut self, level: u8) -> SyntaxId {
        if level == 4 { self.nested_unary() } else { self.binary(level + 1) }
    }
    fn nested_unary(&mut self) -> SyntaxId {
        self.nesting += 1;
        if self.nesting > DEPTH_LIMIT {
            self.too_deep(self.here());
        }
        let operand = self.unary();
        self.nesting -= 1;
        operand
    }
    /// The right operand of an operator that associates to the right.
    fn right_chain(&mut self, operator: Binary, span: Span) -> SyntaxId {
        self.nesting += 1;
        if self.nesting > DEPTH_LIMIT {
            self.too_deep(span);
        }
        let mut operand = self.binary_above(operator.level());
        if let Some((next, next_span)) =
            self.operator(operator.level()).filter(|(next, _)| next.level() == operator.level())
        {
            if next != operator {
                self.ambiguous(span, next_span);
            }
            let right = self.right_chain(next, next_span);
            let whole = self.outer(operand).to(self.outer(right));
            operand = self.push(SyntaxKind::Binary(next, operand, right), whole, next_span);
        }
        self.nesting -= 1;
        operand
    }
    fn ambiguous(&mut self, earlier: Span, later: Span) {
        let (first, second) = (earlier.of(self.text).to_owned(), later.of(self.text).to_owned());
        self.report(
            SyntaxError::new("ambiguous", format!("`{first}` and `{second}` without parentheses are ambiguous"), later)
                .with_related(earlier, "the other operator")
                .with_help("put parentheses around one of them"),
        );
    }
    /// Takes the operator here, if it binds tightly enough. Two operands without one are reported, and read as a
    /// conjunction.
    fn operator(&mut self, least: u8) -> Option<(Binary, Span)> {
        let kind = self.peek()?;
        let span = self.here();
        match kind {
            TokenKind::Logic(Meaning::Binary(operator)) => (operator.level() >= least).then(|| {
                self.at += 1;
                (operator, span)
            }),
            TokenKind::Close(_) | TokenKind::End | TokenKind::Do | TokenKind::Colon | TokenKind::Assign => None,
            _ if least > Binary::And.level() => None,
            TokenKind::Expression(Piece::Infix | Piece::Selector | Piece::Sign | Piece::Postfix) => {
                // Nothing in front of it could be its operand.
                let found = span.of(self.text);
                self.report(
                    SyntaxError::new("expression-operator", format!("`{found}` has a formula as its operand"), span)
                        .with_help("temporal operators cannot stand inside an expression"),
                );
                self.at += 1;
                Some((Binary::And, span))
            }
            _ => {
                let found = span.of(self.text);
                let error =
                    SyntaxError::new("expected-operator", format!("expected an operator, found `{found}`"), span);
                let error = match self.misspelt_around() {
                    Some((wrong, Some(meant))) => {
                        error.with_help(format!("did you mean `{meant}` instead of `{wrong}`?"))
                    }
                    Some((wrong, None)) => error.with_help(format!("`{wrong}` is not an operator")),
                    None => error.with_help("write an operator such as `&&`, `||`, `->` or `U` between two formulas"),
                };
                self.report(error);
                // A word in place of an operator is skipped: what follows is the operand.
                if self.stands_for_an_operator() {
                    self.at += 1;
                }
                Some((Binary::And, span))
            }
        }
    }
    fn is_operand_word(&self, at: usize) -> bool {
        self.kind(at) == Some(TokenKind::Expression(Piece::Operand))
    }
    /// Whether the word here is followed by an operand, so that it probably was meant as an operator.
    fn stands_for_an_operator(&self) -> bool {
        self.is_operand_word(self.at)
            && match self.kind(self.at + 1) {
                Some(TokenKind::Expression(Piece::Operand) | TokenKind::Atom) => true,
                Some(TokenKind::Logic(meaning)) => !matches!(meaning, Meaning::Binary(_)),
                Some(TokenKind::Open('(')) => suggestion(self.here().of(self.text), self.dialect.branching).is_some(),
                _ => false,
            }
    }
    /// A word here or just before that may be a misspelt operator, and which.
    fn misspelt_around(&self) -> Option<(&str, Option<&'static str>)> {
        let word = |at: usize| self.is_operand_word(at).then(|| self.tokens[at].span.of(self.text));
        let suggest = |word: &str| suggestion(word, self.dialect.branching);
        for word in [word(self.at), self.at.checked_sub(1).and_then(word)].into_iter().flatten() {
            if let Some(meant) = suggest(word)
                && (meant.len() > 1 || self.stands_for_an_operator())
            {
                return Some((word, Some(meant)));
            }
        }
        if self.stands_for_an_operator() { word(self.at).map(|word| (word, None)) } else { None }
    }

    fn unary(&mut self) -> SyntaxId {
        let Some(kind) = self.peek() else { return self.expected_operand() };
        let span = self.here();
        if let Some(end) = self.expression_end(self.at) {
            return self.atom(end);
        }
        match kind {
            TokenKind::Logic(Meaning::Unary(operator)) => {
                self.at += 1;
                let operand = self.nested_unary();
                let whole = span.to(self.outer(operand));
                self.push(SyntaxKind::Unary(operator, operand), whole, span)
            }
            TokenKind::Logic(Meaning::PathUnary(quantifier, operator)) => {
                self.at += 1;
                if operator == Unary::Next && self.is_step() {
                    return self.next_by_step(quantifier, span);
                }
                let operand = self.nested_unary();
                let whole = span.to(self.outer(operand));
                let path = self.push(SyntaxKind::Unary(operator, operand), whole, span);
                self.push(SyntaxKind::Path(quantifier, path), whole, span)
            }
            TokenKind::Logic(Meaning::Path(quantifier)) => {
                self.at += 1;
                let operand = if let Some(TokenKind::Open('[')) = self.peek() { self.group() } else { self.binary(4) };
                let whole = span.to(self.outer(operand));
                self.push(SyntaxKind::Path(quantifier, operand), whole, span)
            }
            TokenKind::Logic(Meaning::Constant(value)) => {
                self.at += 1;
                self.push(SyntaxKind::Constant(value), span, span)
            }
            TokenKind::Logic(Meaning::Quantifier(quantifier)) => self.quantified(quantifier, span),
            TokenKind::Open('(') => self.group(),
            TokenKind::Open(_) => {
                self.report(
                    SyntaxError::new("expected-operand", "expected a formula, found `[`", span)
                        .with_help("`[]` is the operator `always`; parentheses enclose formulas"),
                );
                self.group()
            }
            _ => self.expected_operand(),
        }
    }
    /// Whether an operation in brackets is here, with an operand after it: `EX[op] f`.
    fn is_step(&self) -> bool {
        let is_operation = self.peek() == Some(TokenKind::Atom) && self.here().of(self.text).starts_with('[');
        is_operation
            && match self.kind(self.at + 1) {
                Some(TokenKind::Logic(meaning)) => !matches!(meaning, Meaning::Binary(_)),
                Some(TokenKind::Expression(Piece::Operand) | TokenKind::Atom | TokenKind::Open('(')) => true,
                _ => false,
            }
    }
    /// `EX[op] f` is `E ([op] & X f)`, and `AX[op] f` is `A ([op] => X f)`.
    fn next_by_step(&mut self, quantifier: PathQuantifier, span: Span) -> SyntaxId {
        let step = self.atom(self.at + 1);
        let operand = self.nested_unary();
        let whole = span.to(self.outer(operand));
        let next = self.push(SyntaxKind::Unary(Unary::Next, operand), whole, span);
        let operator = if quantifier == PathQuantifier::Some { Binary::And } else { Binary::Implies };
        let path = self.push(SyntaxKind::Binary(operator, step, next), whole, span);
        self.push(SyntaxKind::Path(quantifier, path), whole, span)
    }
    /// A formula in parentheses, or in the brackets after a path quantifier.
    fn group(&mut self) -> SyntaxId {
        let open = self.tokens[self.at];
        self.at += 1;
        let inner = self.formula();
        if self.gave_up {
            return inner;
        }
        if self.at < open.partner {
            let token = self.tokens[self.at];
            let found = token.span.of(self.text);
            self.report(
                SyntaxError::new("unexpected-token", format!("unexpected `{found}`"), token.span)
                    .with_related(open.span, "inside this group"),
            );
        }
        self.at = open.partner + 1;
        let span = open.span.to(self.tokens[open.partner].span);
        self.nodes[inner.0 as usize].outer = span;
        inner
    }
    fn expected_operand(&mut self) -> SyntaxId {
        let span = self.here();
        if self.gave_up {
            return self.missing(span);
        }
        let before = self.at.checked_sub(1).map(|at| self.tokens[at].span);
        let after = before.map_or_else(String::new, |span| format!(" after `{}`", span.of(self.text)));
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(_) if span.start as usize == self.text.len() => "the end".to_owned(),
            Some(_) => format!("`{}`", span.of(self.text)),
        };
        let mut error = SyntaxError::new("expected-operand", format!("expected a formula{after}, found {found}"), span);
        if let Some(TokenKind::Logic(Meaning::Binary(_))) = self.peek() {
            error = error.with_help("this operator needs a formula on both sides");
        } else if before.is_none() {
            error = error.with_help("write a formula such as `[] (p -> <> q)`");
        } else if let Some(span) = before {
            error = error.with_help(format!("write a formula after `{}`", span.of(self.text)));
        }
        self.report(error);
        // What cannot start a formula would be reported again and again.
        if let Some(TokenKind::Colon | TokenKind::Assign | TokenKind::Do | TokenKind::Expression(_)) = self.peek() {
            self.at += 1;
        }
        self.missing(span)
    }
    /// An atom from here up to a token.
    fn atom(&mut self, end: usize) -> SyntaxId {
        let span = self.here().to(self.tokens[end - 1].span);
        for at in self.at..end {
            let token = self.tokens[at];
            if self.is_temporal(at) {
                let found = token.span.of(self.text);
                self.report(
                    SyntaxError::new(
                        "temporal-in-expression",
                        format!("the temporal operator `{found}` is inside an expression"),
                        token.span,
                    )
                    .with_related(span, "the expression")
                    .with_help("temporal operators apply to conditions, not to their parts"),
                );
                break;
            }
        }
        self.at = end;
        self.push(SyntaxKind::Atom, span, span)
    }
    fn is_temporal(&self, at: usize) -> bool {
        match self.tokens[at].kind {
            TokenKind::Logic(Meaning::Unary(operator)) => operator != Unary::Not,
            TokenKind::Logic(Meaning::Binary(operator)) => operator.is_temporal(),
            TokenKind::Logic(Meaning::Path(_) | Meaning::PathUnary(..)) => true,
            _ => false,
        }
    }
    /// Whether a negation may belong to an expression.
    fn is_expression_negation(&self, at: usize) -> bool {
        self.kind(at) == Some(TokenKind::Logic(Meaning::Unary(Unary::Not)))
            && self.dialect.expressions.is_connective(self.tokens[at].span.of(self.text))
    }
    /// The end of the expression that starts at a token, if an atom starts there.
    fn expression_end(&self, start: usize) -> Option<usize> {
        let (mut at, mut operand_is_next) = (start, true);
        let (mut has_infix, mut has_selector, mut questions) = (false, false, 0_u32);
        let mut enclosed = None;
        loop {
            match self.kind(at) {
                Some(TokenKind::Atom) if operand_is_next => {
                    // Nothing can follow an atom in delimiters.
                    return Some(at + 1);
                }
                Some(TokenKind::Expression(Piece::Operand) | TokenKind::Logic(Meaning::Constant(_)))
                    if operand_is_next =>
                {
                    operand_is_next = false;
                    at += 1;
                }
                Some(TokenKind::Expression(Piece::Prefix | Piece::Sign)) if operand_is_next => at += 1,
                Some(TokenKind::Logic(Meaning::Unary(Unary::Not)))
                    if operand_is_next && self.is_expression_negation(at) =>
                {
                    at += 1;
                }
                Some(TokenKind::Open('(')) if operand_is_next => {
                    if !has_infix {
                        enclosed = Some(at);
                    }
                    operand_is_next = false;
                    at = self.tokens[at].partner + 1;
                }
                // Promela asks what is in a channel: `q?[message]`.
                Some(TokenKind::Open('[')) if operand_is_next && at > start && questions > 0 => {
                    operand_is_next = false;
                    at = self.tokens[at].partner + 1;
                }
                Some(TokenKind::Expression(Piece::Postfix)) if !operand_is_next => {
                    has_selector = true;
                    at += 1;
                }
                Some(TokenKind::Expression(piece @ (Piece::Infix | Piece::Selector | Piece::Sign)))
                    if !operand_is_next =>
                {
                    questions += u32::from(self.tokens[at].span.of(self.text).starts_with('?'));
                    has_infix |= piece != Piece::Selector;
                    has_selector |= piece == Piece::Selector;
                    operand_is_next = true;
                    at += 1;
                }
                Some(TokenKind::Colon) if !operand_is_next && self.colon_is_infix(at, questions) => {
                    // The colon of a conditional expression, or of a variable of another process.
                    if questions > 0 {
                        questions -= 1;
                        has_infix = true;
                    }
                    has_selector = true;
                    operand_is_next = true;
                    at += 1;
                }
                Some(TokenKind::Open(_)) if !operand_is_next && enclosed.is_none() && !self.is_constant(at - 1) => {
                    at = self.tokens[at].partner + 1;
                }
                _ => break,
            }
        }
        let first = self.kind(start)?;
        match first {
            _ if at == start => None,
            // A constant or negation belongs to the logic, unless an operator may bind less tightly than the negation.
            TokenKind::Logic(_) if !has_infix => None,
            // A group is an expression only if it is an operand of one.
            TokenKind::Open(_) if !has_infix && !has_selector && !self.is_conditional(start) => None,
            // A formula with temporal operators cannot be an operand; let the parser report the operator after it.
            TokenKind::Open(_) if (start..self.tokens[start].partner).any(|at| self.is_temporal(at)) => None,
            TokenKind::Logic(_)
                if enclosed.is_some_and(|open| (open..self.tokens[open].partner).any(|at| self.is_temporal(at))) =>
            {
                None
            }
            TokenKind::Expression(Piece::Infix | Piece::Selector | Piece::Postfix) => None,
            // An operator without its right operand: the caller's parser of expressions tells what is missing.
            _ => Some(at),
        }
    }
    fn is_constant(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(TokenKind::Logic(Meaning::Constant(_))))
    }
    /// Whether a colon after an operand is part of the expression.
    fn colon_is_infix(&self, at: usize, questions: u32) -> bool {
        // `P[1]:x` has no space, `forall p: T: f` has one, or is read before.
        let touching = |at: usize| {
            at > 0
                && self.tokens[at - 1].span.end == self.tokens[at].span.start
                && self.tokens.get(at + 1).is_some_and(|next| next.span.start == self.tokens[at].span.end)
        };
        questions > 0 || self.dialect.expressions.has_colon() && touching(at)
    }
    /// Whether a group is a conditional expression, `(c -> a : b)`.
    fn is_conditional(&self, open: usize) -> bool {
        let mut at = open + 1;
        let mut arrow = false;
        while at < self.tokens[open].partner {
            match self.tokens[at].kind {
                TokenKind::Open(_) => at = self.tokens[at].partner,
                TokenKind::Logic(Meaning::Quantifier(_)) => return false,
                TokenKind::Logic(Meaning::Binary(Binary::Implies)) => arrow = true,
                TokenKind::Colon if arrow => return true,
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// `forall p : T : f`, `forall p : T do f end`, `forall i := 0 to 3 do f end`.
    fn quantified(&mut self, quantifier: Quantifier, start: Span) -> SyntaxId {
        self.at += 1;
        let word = start.of(self.text).to_owned();
        let form = format!("write `{word} p : T : formula` or `{word} p : T do formula end`");
        let incomplete = |parser: &mut Self, expected: &str| {
            let span = parser.here();
            parser.report(
                SyntaxError::new("quantifier", format!("expected {expected} of `{word}`"), span)
                    .with_related(start, "this quantifier")
                    .with_help(form.clone()),
            );
        };
        let variable =
            if self.is_operand_word(self.at) || matches!(self.peek(), Some(TokenKind::Logic(Meaning::Path(_)))) {
                self.at += 1;
                self.tokens[self.at - 1].span
            } else {
                incomplete(self, "the variable");
                Span::new(start.end as usize, start.end as usize)
            };
        let assigned = match self.peek() {
            Some(TokenKind::Assign) => true,
            Some(TokenKind::Colon) => false,
            _ => {
                incomplete(self, "`:` and the type");
                return self.missing(start);
            }
        };
        self.at += 1;
        let domain_start = self.at;
        let closed_by_end = loop {
            match self.peek() {
                Some(TokenKind::Colon) => break false,
                Some(TokenKind::Do) => break true,
                Some(TokenKind::Open(_)) => self.at = self.tokens[self.at].partner + 1,
                Some(TokenKind::Close(_) | TokenKind::End) | None => {
                    incomplete(self, "`:` or `do` after the type");
                    return self.missing(start);
                }
                Some(_) => self.at += 1,
            }
        };
        if self.at == domain_start {
            incomplete(self, "the type");
        }
        let domain = self.tokens[domain_start].span.to(self.tokens[self.at.max(domain_start + 1) - 1].span);
        self.at += 1;
        let body = self.formula();
        let mut end = self.outer(body);
        if closed_by_end {
            if self.peek() == Some(TokenKind::End) {
                end = self.here();
                self.at += 1;
            } else if !self.gave_up {
                incomplete(self, "`end` after the formula");
            }
        }
        let quantified = Quantified { quantifier, variable, domain, assigned, closed_by_end, body };
        self.push(SyntaxKind::Quantified(quantified), start.to(end), start)
    }
}
