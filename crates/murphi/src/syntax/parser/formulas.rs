//! Extensions: `ltl "name" formula;`, `ctl "name" formula;` and `fairness weak "rule";`.
//!
//! The operators of a formula are read by `quotient-temporal`, which gives the spans of the conditions; these are then
//! read like any other expression.

use quotient_ir::{Diagnostic, Span};
use quotient_temporal::syntax::{self, Dialect, MurphiExpressions, SyntaxId, SyntaxKind, SyntaxTree};
use rustc_hash::FxHashSet;

use super::{Parsed, Parser, Reported};
use crate::syntax::token::TokenKind;
use crate::syntax::tree::{Fairness, FairnessKind, Formula, FormulaKind, RuleKind};

/// The words that begin these extensions, where a name follows.
const FORMULAS: [&str; 2] = ["ltl", "ctl"];

/// Whether a token cannot belong to a formula.
fn ends_formula(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Semicolon | TokenKind::EndOfFile)
        || kind.starts_top_level()
        || kind.starts_declarations()
        || kind.starts_property()
}

impl Parser<'_> {
    /// Whether a temporal property starts here.
    pub(super) fn at_formula(&self) -> bool {
        self.next_kind() == TokenKind::Text && FORMULAS.iter().any(|word| self.is_word(0, word))
    }

    /// Whether a declaration of fairness starts here.
    pub(super) fn at_fairness(&self) -> bool {
        self.is_word(0, "fairness") && matches!(self.next_kind(), TokenKind::Identifier | TokenKind::Text)
    }

    /// `fairness weak "rule"`
    pub(super) fn fairness(&mut self) -> Parsed<Fairness> {
        let start = self.advance().span;
        let kind = if self.is_word(0, "weak") {
            FairnessKind::Weak
        } else if self.is_word(0, "strong") {
            FairnessKind::Strong
        } else {
            return Err(self.expected_with("`weak` or `strong`", |it| {
                it.with_help("fairness of rules is declared by `fairness weak \"name\";`")
            }));
        };
        self.advance();
        let Some(rule) = self.text() else { return Err(self.expected("the name of a rule in quotes")) };
        Ok(Fairness { kind, rule, span: self.since(start) })
    }

    /// `ltl "name" formula`
    pub(super) fn temporal_property(&mut self) -> Parsed<RuleKind> {
        let branching = self.is_word(0, "ctl");
        self.advance();
        let Some(name) = self.text() else { return Err(self.expected("the name of the formula in quotes")) };
        let first = self.position;
        while !self.at_end_of_formula() {
            self.advance();
        }
        let after = self.position;
        let span = if first == after { self.span() } else { self.tokens[first].span.to(self.previous_span()) };
        self.formulas.push(span);
        if first == after {
            return Err(self.expected("a formula"));
        }
        let text = self.text;
        let slice = &text[span.range()];
        let names = self.names_outside_formulas();
        // A word of a formula is a name of the model if it occurs elsewhere, too.
        let is_name = |word: &str| names.contains(word);
        let dialect = Dialect::murphi().with_names(&is_name);
        let formula = match syntax::parse(slice, &dialect) {
            Ok(mut tree) => {
                tree.merge_atoms(slice, &MurphiExpressions);
                self.formula(&tree, tree.root(), span.start)
            }
            Err(errors) => {
                for error in errors {
                    let place = |at: syntax::Span| Span { start: at.start + span.start, end: at.end + span.start };
                    let mut diagnostic = Diagnostic::error(error.code, error.message, place(error.span));
                    diagnostic.help = error.help;
                    if let Some((related, text)) = error.related {
                        diagnostic = diagnostic.with_secondary(place(related), text);
                    }
                    self.report(diagnostic);
                }
                Err(Reported)
            }
        };
        self.position = after;
        Ok(RuleKind::Temporal { branching, name, formula: formula?, text: span })
    }

    fn at_end_of_formula(&self) -> bool {
        ends_formula(self.kind()) || self.at_formula()
    }

    /// All names of the text, except those in formulas.
    fn names_outside_formulas(&self) -> FxHashSet<&str> {
        let text = self.text;
        let mut names = FxHashSet::default();
        let mut in_formula = false;
        for pair in self.tokens.windows(2) {
            let word = &text[pair[0].span.range()];
            let starts = pair[0].kind == TokenKind::Identifier
                && pair[1].kind == TokenKind::Text
                && FORMULAS.iter().any(|formula| formula.eq_ignore_ascii_case(word));
            in_formula = starts || in_formula && !ends_formula(pair[0].kind);
            if pair[0].kind == TokenKind::Identifier && !in_formula {
                names.insert(word);
            }
        }
        names
    }

    /// A part of the tree of a formula, with its conditions read.
    fn formula(&mut self, tree: &SyntaxTree, id: SyntaxId, offset: u32) -> Parsed<Formula> {
        let node = tree.node(id);
        let shifted = |span: syntax::Span| Span { start: span.start + offset, end: span.end + offset };
        let span = shifted(node.span);
        let kind = match &node.kind {
            SyntaxKind::Constant(value) => FormulaKind::Constant(*value),
            SyntaxKind::Atom => {
                self.seek(span.start);
                self.limit = Some(span.end);
                let condition = self.expression();
                self.limit = None;
                let condition = condition?;
                self.expect_at(span.end)?;
                FormulaKind::Condition(condition)
            }
            SyntaxKind::Unary(operator, operand) => {
                FormulaKind::Unary(*operator, Box::new(self.formula(tree, *operand, offset)?))
            }
            SyntaxKind::Binary(operator, left, right) => {
                let left = self.formula(tree, *left, offset);
                let right = self.formula(tree, *right, offset);
                FormulaKind::Binary(*operator, Box::new(left?), Box::new(right?))
            }
            SyntaxKind::Path(quantifier, operand) => {
                FormulaKind::Path(*quantifier, Box::new(self.formula(tree, *operand, offset)?))
            }
            SyntaxKind::Quantified(quantified) => {
                let universal = quantified.quantifier == syntax::Quantifier::ForAll;
                self.seek(shifted(quantified.variable).start);
                self.limit = Some(shifted(quantified.domain).end);
                let quantifier = self.quantifier().map(|it| it.node);
                self.limit = None;
                let quantifier = match quantifier {
                    Ok(quantifier) => self.expect_at(shifted(quantified.domain).end).map(|()| quantifier),
                    Err(Reported) => Err(Reported),
                };
                let body = self.formula(tree, quantified.body, offset);
                FormulaKind::Quantified { universal, quantifier: Box::new(quantifier?), body: Box::new(body?) }
            }
        };
        Ok(Formula { kind, span, operator: shifted(node.operator) })
    }

    /// Continues at the token that starts at a position.
    fn seek(&mut self, start: u32) {
        self.position = self.tokens.partition_point(|token| token.span.start < start);
    }

    /// Reports what is left of an expression that should end at a position.
    fn expect_at(&mut self, end: u32) -> Parsed<()> {
        if self.span().start >= end { Ok(()) } else { Err(self.expected("an operator or the end of the condition")) }
    }
}
