//! Substitutions.

use quotient_ir::{Diagnostic, Span};

use super::super::token::TokenKind;
use super::super::tree::{Formula, FormulaKind, Name, Substitution, SubstitutionKind};
use super::{Parsed, Parser};

impl Parser<'_> {
    /// Substitutions composed by `;` and `||`, which have the same precedence and group to the left.
    pub(super) fn substitution(&mut self) -> Parsed<Substitution> {
        self.nested(|parser| {
            let mut left = parser.parallel()?;
            while parser.is_sign(";") {
                parser.advance();
                let right = parser.parallel()?;
                let span = left.span.to(right.span);
                left = match left.kind {
                    SubstitutionKind::Sequence(mut parts) => {
                        parts.push(right);
                        Substitution { kind: SubstitutionKind::Sequence(parts), span }
                    }
                    _ => Substitution { kind: SubstitutionKind::Sequence(vec![left, right]), span },
                };
            }
            Ok(left)
        })
    }

    /// Substitutions side by side.
    pub(super) fn parallel(&mut self) -> Parsed<Substitution> {
        let first = self.simple()?;
        if !self.is_sign("||") {
            return Ok(first);
        }
        let mut span = first.span;
        let mut parts = vec![first];
        while self.accept_sign("||") {
            let part = self.simple()?;
            span = span.to(part.span);
            parts.push(part);
        }
        Ok(Substitution { kind: SubstitutionKind::Parallel(parts), span })
    }

    /// Whether a substitution that starts with a word of its own starts here.
    pub(super) fn at_substitution_word(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Word(
                "skip"
                    | "BEGIN"
                    | "PRE"
                    | "ASSERT"
                    | "SELECT"
                    | "CHOICE"
                    | "ANY"
                    | "VAR"
                    | "CASE"
                    | "WHILE"
                    | "LET"
                    | "IF"
            )
        )
    }

    fn simple(&mut self) -> Parsed<Substitution> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Word("skip") => {
                self.advance();
                SubstitutionKind::Skip
            }
            TokenKind::Word("BEGIN") => {
                self.advance();
                let body = self.substitution()?;
                self.expect_end("BEGIN", start)?;
                SubstitutionKind::Block(Box::new(body))
            }
            TokenKind::Word(word @ ("PRE" | "ASSERT")) => {
                self.advance();
                let condition = self.formula()?;
                self.expect_word("THEN", "after the predicate")?;
                let body = Box::new(self.substitution()?);
                self.expect_end(word, start)?;
                if word == "PRE" {
                    SubstitutionKind::Precondition(condition, body)
                } else {
                    SubstitutionKind::Assert(condition, body)
                }
            }
            TokenKind::Word("IF") => self.branches("IF", "ELSIF", start)?,
            TokenKind::Word("SELECT") => self.branches("SELECT", "WHEN", start)?,
            TokenKind::Word("CHOICE") => {
                self.advance();
                let mut parts = vec![self.substitution()?];
                while self.accept_word("OR") {
                    parts.push(self.substitution()?);
                }
                self.expect_end("CHOICE", start)?;
                SubstitutionKind::Choice(parts)
            }
            TokenKind::Word("ANY") => {
                self.advance();
                let names = self.names("a variable of `ANY`")?;
                self.expect_word("WHERE", "after the variables of `ANY`")?;
                let condition = self.formula()?;
                self.expect_word("THEN", "after the predicate")?;
                let body = self.substitution()?;
                self.expect_end("ANY", start)?;
                SubstitutionKind::Any(names, condition, Box::new(body))
            }
            TokenKind::Word("LET") => {
                self.advance();
                let names = self.names("a variable of `LET`")?;
                self.expect_word("BE", "after the variables of `LET`")?;
                let bindings = self.formula()?;
                self.expect_word("IN", "after the values of `LET`")?;
                let body = self.substitution()?;
                self.expect_end("LET", start)?;
                SubstitutionKind::Let(names, bindings, Box::new(body))
            }
            TokenKind::Word("VAR") => {
                self.advance();
                let names = self.names("a local variable")?;
                self.expect_word("IN", "after the local variables")?;
                let body = self.substitution()?;
                self.expect_end("VAR", start)?;
                SubstitutionKind::Var(names, Box::new(body))
            }
            TokenKind::Word("CASE") => self.case(start)?,
            TokenKind::Word("WHILE") => self.while_loop(start)?,
            TokenKind::Sign("(") => {
                self.advance();
                let body = self.substitution()?;
                self.expect_sign(")", "to close this parenthesis")?;
                SubstitutionKind::Block(Box::new(body))
            }
            _ => self.assignment()?,
        };
        Ok(Substitution { kind, span: start.to(self.previous()) })
    }

    fn branches(&mut self, word: &'static str, next: &'static str, start: Span) -> Parsed<SubstitutionKind> {
        self.advance();
        let mut branches = Vec::new();
        loop {
            let condition = self.formula()?;
            self.expect_word("THEN", "after the condition")?;
            branches.push((condition, self.substitution()?));
            if !self.accept_word(next) {
                break;
            }
        }
        let otherwise = if self.accept_word("ELSE") { Some(Box::new(self.substitution()?)) } else { None };
        self.expect_end(word, start)?;
        Ok(if word == "IF" {
            SubstitutionKind::If(branches, otherwise)
        } else {
            SubstitutionKind::Select(branches, otherwise)
        })
    }

    fn case(&mut self, start: Span) -> Parsed<SubstitutionKind> {
        self.advance();
        let subject = self.formula()?;
        self.expect_word("OF", "after the expression of `CASE`")?;
        self.expect_word("EITHER", "before the first case")?;
        let mut cases = Vec::new();
        loop {
            let labels = self.list()?;
            self.expect_word("THEN", "after the values of a case")?;
            cases.push((labels, self.substitution()?));
            if !self.accept_word("OR") {
                break;
            }
        }
        let otherwise = if self.accept_word("ELSE") { Some(Box::new(self.substitution()?)) } else { None };
        self.expect_end("CASE … OF EITHER", start)?;
        self.expect_end("CASE", start)?;
        Ok(SubstitutionKind::Case(subject, cases, otherwise))
    }

    fn while_loop(&mut self, start: Span) -> Parsed<SubstitutionKind> {
        self.advance();
        let condition = self.formula()?;
        self.expect_word("DO", "after the condition of `WHILE`")?;
        let body = Box::new(self.substitution()?);
        let (mut invariant, mut variant) = (None, None);
        loop {
            if invariant.is_none() && self.accept_word("INVARIANT") {
                invariant = Some(self.formula()?);
            } else if variant.is_none() && self.accept_word("VARIANT") {
                variant = Some(self.formula()?);
            } else {
                break;
            }
        }
        self.expect_end("WHILE", start)?;
        Ok(SubstitutionKind::While { condition, body, invariant, variant })
    }

    /// `x, y := …`, `x :: …`, `x : (…)`, `x <-- op(…)`, `op(…)`
    fn assignment(&mut self) -> Parsed<SubstitutionKind> {
        if self.kind() != TokenKind::Identifier {
            return self.unexpected("a substitution");
        }
        let mut targets = vec![self.postfix()?];
        while self.accept_sign(",") {
            targets.push(self.postfix()?);
        }
        if self.accept_sign(":=") {
            let values = self.list()?;
            return Ok(SubstitutionKind::Assign(targets, values));
        }
        if self.accept_sign("::") {
            let set = self.formula()?;
            return Ok(SubstitutionKind::Choose(targets, set));
        }
        if self.accept_sign(":") {
            self.expect_sign("(", "after `:` in a substitution")?;
            let predicate = self.formula()?;
            self.expect_sign(")", "after the predicate")?;
            return Ok(SubstitutionKind::Become(targets, predicate));
        }
        if self.accept_sign("<--") {
            let operation = self.name("the name of an operation")?;
            let arguments = if self.is_sign("(") { self.arguments()? } else { Vec::new() };
            return Ok(SubstitutionKind::Call { outputs: targets, operation, arguments });
        }
        if self.is_sign("=") {
            let diagnostic = Diagnostic::error("syntax", "`=` compares; it does not assign", self.span())
                .with_help("write `:=` to assign");
            return self.report(diagnostic);
        }
        match targets.pop() {
            Some(Formula { kind: FormulaKind::Name(text), span }) if targets.is_empty() => Ok(SubstitutionKind::Call {
                outputs: Vec::new(),
                operation: Name { text, span },
                arguments: Vec::new(),
            }),
            Some(Formula { kind: FormulaKind::Apply(function, arguments), .. }) if targets.is_empty() => {
                match *function {
                    Formula { kind: FormulaKind::Name(text), span } => {
                        Ok(SubstitutionKind::Call { outputs: Vec::new(), operation: Name { text, span }, arguments })
                    }
                    _ => self.unexpected("`:=`, `::` or `:(`"),
                }
            }
            _ => self.unexpected("`:=`, `::`, `:(` or `<--`"),
        }
    }
}
