//! Formulas: predicates and expressions, by precedence. The levels are those of the B language reference manual
//! (Atelier B), except that `<=>` binds weaker than `=` and `:`, as is common practice.

use std::sync::Arc;

use quotient_ir::{Diagnostic, Span};

use super::super::token::TokenKind;
use super::super::tree::{Formula, FormulaKind, Name};
use super::{Parsed, Parser};

const POWER: u32 = 200;
const UNARY_MINUS: u32 = 210;

/// The precedence of an operator between two operands.
fn precedence(operator: &str) -> Option<u32> {
    Some(match operator {
        "=>" => 30,
        "&" | "or" => 40,
        "<=>" => 60,
        "=" | "/=" | ":" | "/:" | "<:" | "/<:" | "<<:" | "/<<:" | "<" | ">" | "<=" | ">=" => 70,
        "<->" | "<<->" | "<->>" | "<<->>" | "+->" | "-->" | ">+>" | ">->" | "+->>" | "-->>" | ">->>" | ">+>>" => 125,
        "|->" | "<|" | "<<|" | "|>" | "|>>" | "<+" | "+>" | "><" | "<-" | "->" | "^" | "/\\" | "\\/" | "/|\\"
        | "\\|/" => 160,
        ".." => 170,
        "+" | "-" | "\\" => 180,
        "*" | "/" | "mod" => 190,
        "**" => POWER,
        _ => return None,
    })
}

impl Parser<'_> {
    /// A formula in which `;`, `||` and `,` are not operators.
    pub(super) fn formula(&mut self) -> Parsed<Formula> {
        let outer = std::mem::replace(&mut self.in_parentheses, false);
        let result = self.nested(|parser| parser.binary(0));
        self.in_parentheses = outer;
        result
    }

    /// The contents of parentheses: also composition, parallel product, and pairs by commas.
    fn parenthesised(&mut self) -> Parsed<Formula> {
        let outer = std::mem::replace(&mut self.in_parentheses, true);
        let result = self.nested(|parser| {
            let mut formula = parser.binary(0)?;
            while parser.accept_sign(",") {
                let left = parser.height;
                let right = parser.binary(0)?;
                parser.grow(left.max(parser.height))?;
                let span = formula.span.to(right.span);
                formula = Formula { kind: FormulaKind::Binary("|->", Box::new(formula), Box::new(right)), span };
            }
            Ok(formula)
        });
        self.in_parentheses = outer;
        result
    }

    fn operator(&self) -> Option<(&'static str, u32)> {
        match self.kind() {
            TokenKind::Sign(sign @ (";" | "||")) if self.in_parentheses => Some((sign, 20)),
            TokenKind::Sign(sign) => Some((sign, precedence(sign)?)),
            TokenKind::Word(word @ ("or" | "mod")) => Some((word, precedence(word)?)),
            _ => None,
        }
    }

    fn binary(&mut self, least: u32) -> Parsed<Formula> {
        let mut left = self.unary()?;
        while let Some((operator, level)) = self.operator() {
            if level < least {
                break;
            }
            self.advance();
            let height = self.height;
            // Only `**` groups to the right.
            let right = self.nested(|parser| parser.binary(if level == POWER { level } else { level + 1 }))?;
            self.grow(height.max(self.height))?;
            let span = left.span.to(right.span);
            left = Formula { kind: FormulaKind::Binary(operator, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Formula> {
        let start = self.span();
        if self.accept_sign("-") {
            let operand = self.nested(|parser| parser.binary(UNARY_MINUS))?;
            self.grow(self.height)?;
            let span = start.to(operand.span);
            return Ok(Formula { kind: FormulaKind::Unary("-", Box::new(operand)), span });
        }
        if self.accept_word("not") {
            let operand = self.nested(Self::unary)?;
            self.grow(self.height)?;
            let span = start.to(operand.span);
            return Ok(Formula { kind: FormulaKind::Unary("not", Box::new(operand)), span });
        }
        self.postfix()
    }

    /// A primary formula with applications, images, inverses and fields after it.
    pub(super) fn postfix(&mut self) -> Parsed<Formula> {
        let mut formula = self.primary()?;
        loop {
            let height = self.height;
            let start = formula.span;
            let kind = if self.is_sign("(") {
                let arguments = self.arguments()?;
                self.grow(height.max(self.height))?;
                FormulaKind::Apply(Box::new(formula), arguments)
            } else if self.accept_sign("[") {
                let set = self.formula()?;
                self.expect_sign("]", "after the set of an image")?;
                self.grow(height.max(self.height))?;
                FormulaKind::Image(Box::new(formula), Box::new(set))
            } else if self.accept_sign("~") {
                self.grow(height)?;
                FormulaKind::Inverse(Box::new(formula))
            } else if self.accept_sign("'") {
                let field = self.name("the name of a field")?;
                self.grow(height)?;
                FormulaKind::Field(Box::new(formula), field)
            } else {
                return Ok(formula);
            };
            formula = Formula { kind, span: start.to(self.previous()) };
        }
    }

    /// `(a, b)`: separate arguments.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Formula>> {
        self.expect_sign("(", "before arguments")?;
        let outer = std::mem::replace(&mut self.in_parentheses, true);
        let mut height = 0;
        let result = self.nested(|parser| {
            let mut arguments = Vec::new();
            loop {
                arguments.push(parser.binary(0)?);
                height = parser.height.max(height);
                if !parser.accept_sign(",") {
                    break;
                }
            }
            Ok(arguments)
        });
        self.in_parentheses = outer;
        let arguments = result?;
        self.expect_sign(")", "after the arguments")?;
        self.height = height;
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Formula> {
        let token = self.token(0);
        let start = token.span;
        self.height = 1;
        let kind = match token.kind {
            TokenKind::Number => {
                self.advance();
                FormulaKind::Number(self.number(start)?)
            }
            TokenKind::Text => {
                self.advance();
                let text = self.text_of(start);
                FormulaKind::Text(Arc::from(text.get(1..text.len() - 1).unwrap_or("")))
            }
            TokenKind::Identifier => {
                self.advance();
                let name: Arc<str> = Arc::from(self.text_of(start));
                if self.is_sign("$") {
                    self.advance();
                    if self.kind() != TokenKind::Number || self.text_of(self.span()) != "0" {
                        return self.unexpected("`0` after `$`");
                    }
                    self.advance();
                    FormulaKind::Before(name)
                } else {
                    FormulaKind::Name(name)
                }
            }
            TokenKind::Sign("(") => {
                self.advance();
                let mut formula = self.parenthesised()?;
                self.expect_sign(")", "to close this parenthesis")?;
                formula.span = start.to(self.previous());
                return Ok(formula);
            }
            TokenKind::Sign("{") => {
                self.advance();
                self.braces(start)?
            }
            TokenKind::Sign("[") => {
                self.advance();
                let items = if self.is_sign("]") { Vec::new() } else { self.list()? };
                self.expect_sign("]", "to close this sequence")?;
                FormulaKind::Sequence(items)
            }
            TokenKind::Sign("<>") => {
                self.advance();
                FormulaKind::Sequence(Vec::new())
            }
            TokenKind::Sign(quantifier @ ("!" | "#")) => {
                self.advance();
                let names = self.bound_names()?;
                self.expect_sign(".", "after the bound variables")?;
                let body = self.nested(Self::postfix_or_not)?;
                self.grow(self.height)?;
                FormulaKind::Quantified(quantifier, names, Box::new(body))
            }
            TokenKind::Sign("%") => {
                self.advance();
                self.binder("%")?
            }
            TokenKind::Word(word @ ("SIGMA" | "PI" | "UNION" | "INTER")) => {
                self.advance();
                self.binder(word)?
            }
            TokenKind::Word("bool") => {
                self.advance();
                self.expect_sign("(", "after `bool`")?;
                let predicate = self.formula()?;
                self.expect_sign(")", "after the predicate of `bool`")?;
                self.grow(self.height)?;
                FormulaKind::Truth(Box::new(predicate))
            }
            TokenKind::Word(word @ ("rec" | "struct")) => {
                self.advance();
                self.expect_sign("(", "before the fields")?;
                let mut fields = Vec::new();
                let mut height = 0;
                loop {
                    let name = self.name("the name of a field")?;
                    self.expect_sign(":", "after the name of a field")?;
                    fields.push((name, self.formula()?));
                    height = height.max(self.height);
                    if !self.accept_sign(",") {
                        break;
                    }
                }
                self.expect_sign(")", "after the fields")?;
                self.grow(height)?;
                FormulaKind::Record(word, fields)
            }
            TokenKind::Word("IF") => self.conditional()?,
            TokenKind::Word("LET") => {
                self.advance();
                let names = self.bound_names()?;
                self.expect_word("BE", "after the names of `LET`")?;
                let bindings = self.formula()?;
                let height = self.height;
                self.expect_word("IN", "after the values of `LET`")?;
                let body = self.formula()?;
                self.expect_end("LET", start)?;
                self.grow(height.max(self.height))?;
                FormulaKind::Let(names, Box::new(bindings), Box::new(body))
            }
            TokenKind::Word(
                word @ ("TRUE" | "FALSE" | "INTEGER" | "NATURAL" | "NATURAL1" | "INT" | "NAT" | "NAT1" | "BOOL"
                | "STRING" | "REAL" | "FLOAT" | "MININT" | "MAXINT" | "POW" | "POW1" | "FIN" | "FIN1" | "btrue"
                | "bfalse"),
            ) => {
                self.advance();
                FormulaKind::Word(word)
            }
            _ => return self.unexpected("an expression or a predicate"),
        };
        Ok(Formula { kind, span: start.to(self.previous()) })
    }

    fn postfix_or_not(&mut self) -> Parsed<Formula> {
        if self.is_word("not") { self.unary() } else { self.postfix() }
    }

    fn number(&mut self, span: Span) -> Parsed<i64> {
        match self.text_of(span).parse() {
            Ok(number) => Ok(number),
            Err(_) => {
                let diagnostic = Diagnostic::error("number-too-large", "a number too large for 64 bits", span)
                    .with_help(format!("the greatest number is {}", i64::MAX));
                self.report(diagnostic)
            }
        }
    }

    fn conditional(&mut self) -> Parsed<FormulaKind> {
        let start = self.advance().span;
        let condition = self.formula()?;
        let mut height = self.height;
        self.expect_word("THEN", "after the condition")?;
        let then = self.formula()?;
        height = height.max(self.height);
        let otherwise = if self.is_word("ELSIF") {
            let start = self.span();
            let kind = self.nested(Self::conditional)?;
            height = height.max(self.height);
            Formula { kind, span: start.to(self.previous()) }
        } else {
            self.expect_word("ELSE", "in a conditional expression")?;
            let otherwise = self.formula()?;
            height = height.max(self.height);
            self.expect_end("IF", start)?;
            otherwise
        };
        self.grow(height)?;
        Ok(FormulaKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    /// Formulas separated by commas.
    pub(super) fn list(&mut self) -> Parsed<Vec<Formula>> {
        let mut items = Vec::new();
        let mut height = 0;
        loop {
            items.push(self.formula()?);
            height = height.max(self.height);
            if !self.accept_sign(",") {
                break;
            }
        }
        self.grow(height)?;
        Ok(items)
    }

    /// After `{`: a set by its members or by what they satisfy.
    fn braces(&mut self, start: Span) -> Parsed<FormulaKind> {
        if self.accept_sign("}") {
            return Ok(FormulaKind::Extension(Vec::new()));
        }
        let items = self.list()?;
        if self.accept_sign("|") {
            let mut names = Vec::new();
            for item in &items {
                collect_names(item, &mut names).or_else(|span| {
                    let diagnostic = Diagnostic::error("syntax", "expected a bound variable before `|`", span)
                        .with_help("write `{x, y | predicate}`");
                    self.report(diagnostic)
                })?;
            }
            let body = self.formula()?;
            self.expect_sign("}", "to close this set")?;
            self.grow(self.height)?;
            return Ok(FormulaKind::Comprehension(names, Box::new(body)));
        }
        if !self.accept_sign("}") {
            let found = self.describe(self.token(0));
            let diagnostic =
                Diagnostic::error("syntax", format!("expected `}}` to close this set, found {found}"), self.span())
                    .with_secondary(start, "the set starts here");
            return self.report(diagnostic);
        }
        Ok(FormulaKind::Extension(items))
    }

    /// `x`, `x, y` or `(x, y)`
    fn bound_names(&mut self) -> Parsed<Vec<Name>> {
        if self.accept_sign("(") {
            let names = self.names("a bound variable")?;
            self.expect_sign(")", "after the bound variables")?;
            Ok(names)
        } else {
            self.names("a bound variable")
        }
    }

    /// After the sign of a binder: `x.(P | E)`
    fn binder(&mut self, binder: &'static str) -> Parsed<FormulaKind> {
        let names = self.bound_names()?;
        self.expect_sign(".", "after the bound variables")?;
        self.expect_sign("(", "after the bound variables")?;
        let predicate = self.formula()?;
        let height = self.height;
        self.expect_sign("|", "between the predicate and the expression")?;
        let expression = self.parenthesised()?;
        self.expect_sign(")", "after the expression")?;
        self.grow(height.max(self.height))?;
        Ok(FormulaKind::Binder(binder, names, Box::new(predicate), Box::new(expression)))
    }
}

/// The names of `x, y` or `x |-> y`, or the position of anything else.
fn collect_names(formula: &Formula, names: &mut Vec<Name>) -> Result<(), Span> {
    match &formula.kind {
        FormulaKind::Name(name) => {
            names.push(Name { text: name.clone(), span: formula.span });
            Ok(())
        }
        FormulaKind::Binary("|->", left, right) => {
            collect_names(left, names)?;
            collect_names(right, names)
        }
        _ => Err(formula.span),
    }
}
