//! Assertions and temporal formulas. The operators of formulas from the weakest to the strongest: `<->`, `->`, `||`,
//! `&&`, `U` and `R`, those with one operand.

use quotient_ir::{Diagnostic, Refinement, Span};
use quotient_kit::tokens::TokenKind;

use super::{BRACKET, Parsed, Parser, Unreadable};
use crate::syntax::tree::{Assertion, Claim, Expression, Linear, LinearBinary, LinearKind, LinearUnary, Name, Optimum};

/// What stands behind the first name of a condition.
const COMPARISONS: &[&str] = &["[", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "%"];

impl Parser<'_> {
    pub(super) fn assertion(&mut self, start: Span) -> Parsed<Assertion> {
        let process = self.name("the name of a process")?;
        let arguments = self.arguments()?;
        let claim = self.claim()?;
        self.asserted(Some((process, arguments)), claim, start)
    }

    fn asserted(&mut self, process: Option<(Name, Vec<Expression>)>, claim: Claim, start: Span) -> Parsed<Assertion> {
        let span = start.to(self.before());
        self.expect(";", "after an assertion")?;
        Ok(Assertion { process, claim, span })
    }

    /// `#invariant c;`
    pub(super) fn invariant(&mut self, start: Span) -> Parsed<Assertion> {
        let claim = Claim::Invariant(self.expression()?);
        self.asserted(None, claim, start)
    }

    /// `#ltl f;`
    pub(super) fn linear(&mut self, start: Span) -> Parsed<Assertion> {
        let claim = Claim::Linear(self.formula()?);
        self.asserted(None, claim, start)
    }

    fn claim(&mut self) -> Parsed<Claim> {
        if self.take("|=") {
            return Ok(Claim::Linear(self.formula()?));
        }
        const HELP: &str = "there are `deadlockfree`, `nonterminating`, `divergencefree`, `deterministic`, \
                            `reaches c`, `refines Q` and `|= formula`";
        let token = self.peek().clone();
        let TokenKind::Name(word) = token.kind else {
            let message = format!("what is asserted is expected, not {}", token.describe());
            self.report(Diagnostic::error("syntax", message, token.span).with_help(HELP));
            return Err(Unreadable);
        };
        self.advance();
        Ok(match &*word {
            "deadlockfree" => Claim::DeadlockFree,
            "nonterminating" => Claim::NonTerminating,
            "divergencefree" => Claim::DivergenceFree,
            "deterministic" => Claim::Deterministic,
            "reaches" => {
                let condition = self.expression()?;
                let optimum = if self.is_word("with") { Some(self.optimum()?) } else { None };
                Claim::Reaches(condition, optimum)
            }
            "refines" => {
                let mut sense = Refinement::Traces;
                if self.take("<") {
                    let word = self.name("`F` or `FD`")?;
                    sense = match &*word.text {
                        "T" => Refinement::Traces,
                        "F" => Refinement::Failures,
                        "FD" => Refinement::FailuresDivergences,
                        _ => {
                            let message = format!("`{}` is not a sort of refinement", word.text);
                            let error = Diagnostic::error("syntax", message, word.span);
                            self.report(error.with_help("there are `refines Q`, `refines<F> Q` and `refines<FD> Q`"));
                            return Err(Unreadable);
                        }
                    };
                    self.expect(">", "after the sort of refinement")?;
                }
                let name = self.name("the name of a process")?;
                Claim::Refines(sense, name, self.arguments()?)
            }
            _ => {
                let message = format!("`{word}` is not known here");
                self.report(Diagnostic::error("syntax", message, token.span).with_help(HELP));
                return Err(Unreadable);
            }
        })
    }

    fn optimum(&mut self) -> Parsed<Optimum> {
        self.advance();
        let is_least = self.is_word("min");
        if !is_least && !self.is_word("max") {
            return self.unexpected("`min` or `max`");
        }
        self.advance();
        self.expect("(", "after this")?;
        let value = self.expression()?;
        self.expect(")", "after the value")?;
        Ok(Optimum { is_least, value })
    }

    fn formula(&mut self) -> Parsed<Linear> {
        let depth = self.depth;
        self.deeper(BRACKET)?;
        let mut left = self.implication()?;
        while self.take("<->") {
            let right = self.implication()?;
            left = binary(LinearBinary::Equivalent, left, right);
            self.deeper(1)?;
        }
        self.depth = depth;
        Ok(left)
    }

    fn implication(&mut self) -> Parsed<Linear> {
        let left = self.disjunction()?;
        if !self.take("->") {
            return Ok(left);
        }
        self.deeper(1)?;
        let right = self.implication()?;
        Ok(binary(LinearBinary::Implies, left, right))
    }

    fn disjunction(&mut self) -> Parsed<Linear> {
        let mut left = self.conjunction()?;
        while self.take("||") || self.take("\\/") {
            let right = self.conjunction()?;
            left = binary(LinearBinary::Or, left, right);
            self.deeper(1)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Linear> {
        let mut left = self.until()?;
        while self.take("&&") || self.take("/\\") {
            let right = self.until()?;
            left = binary(LinearBinary::And, left, right);
            self.deeper(1)?;
        }
        Ok(left)
    }

    fn until(&mut self) -> Parsed<Linear> {
        let left = self.single()?;
        let operator = if self.is_word("U") {
            LinearBinary::Until
        } else if self.is_word("R") || self.is_word("V") {
            LinearBinary::Release
        } else {
            return Ok(left);
        };
        self.advance();
        self.deeper(1)?;
        let right = self.until()?;
        Ok(binary(operator, left, right))
    }

    fn single(&mut self) -> Parsed<Linear> {
        let token = self.peek().clone();
        let operator = match &token.kind {
            TokenKind::Symbol("!") => Some(LinearUnary::Not),
            TokenKind::Symbol("[]") => Some(LinearUnary::Always),
            TokenKind::Symbol("<>") => Some(LinearUnary::Eventually),
            TokenKind::Name(word) => match &**word {
                "X" => Some(LinearUnary::Next),
                "G" if !self.ahead(1).is(".") => Some(LinearUnary::Always),
                "F" if !self.ahead(1).is(".") => Some(LinearUnary::Eventually),
                _ => None,
            },
            _ => None,
        };
        if let Some(operator) = operator {
            self.advance();
            self.deeper(1)?;
            let operand = self.single()?;
            let span = token.span.to(operand.span);
            return Ok(Linear { kind: LinearKind::Unary(operator, Box::new(operand)), span });
        }
        let kind = match token.kind {
            TokenKind::Symbol("(") => {
                self.advance();
                let inner = self.formula()?;
                let end = self.expect(")", "after a formula")?;
                return Ok(Linear { span: token.span.to(end), ..inner });
            }
            TokenKind::Keyword(word @ ("true" | "false")) => {
                self.advance();
                LinearKind::Truth(word == "true")
            }
            TokenKind::Text(text) => {
                self.advance();
                LinearKind::Quoted(text)
            }
            TokenKind::Name(_) if COMPARISONS.iter().any(|symbol| self.ahead(1).is(symbol)) => {
                LinearKind::Condition(self.comparison()?)
            }
            TokenKind::Name(text) => {
                self.advance();
                let arguments = self.dotted()?;
                LinearKind::Atom(Name { text, span: token.span }, arguments)
            }
            _ => return self.unexpected("a proposition, an event or a formula"),
        };
        Ok(Linear { kind, span: token.span.to(self.before()) })
    }
}

fn binary(operator: LinearBinary, left: Linear, right: Linear) -> Linear {
    let span = left.span.to(right.span);
    Linear { kind: LinearKind::Binary(operator, Box::new(left), Box::new(right)), span }
}
