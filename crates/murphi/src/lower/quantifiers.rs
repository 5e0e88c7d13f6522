//! Quantifiers: what bound variables, loop variables and ruleset parameters range over.

use quotient_ir::{
    BinaryOperator, Diagnostic, Expr, ExprId, Iteration, LocalId, LocalKind, Model, Root, Severity, Span, TypeKind,
};

use super::super::syntax::tree::{self, Quantifier, QuantifierRange};
use super::operands::{Access, Constancy, Operand};
use super::scopes::Meaning;
use super::{Lowering, MOST_CELLS};

/// What a quantifier binds its name for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// `forall` and `exists`.
    Expression,
    /// `for`.
    Loop,
    /// The header of a ruleset.
    Ruleset,
}

impl Lowering<'_> {
    /// Declares the name of a quantifier in the innermost scope, as the local `known` if it was
    /// made before, and returns the local and its range.
    pub(super) fn quantifier(
        &mut self,
        quantifier: &Quantifier,
        bound: Bound,
        known: Option<LocalId>,
    ) -> Option<(LocalId, Iteration)> {
        let range = match &quantifier.range {
            QuantifierRange::Type(ty) => self.type_of(ty, None).and_then(|id| {
                self.check_quantified_type(id, bound, ty.span)?;
                Some((id, Iteration::Over(id)))
            }),
            QuantifierRange::Steps { from, to, by } => self.steps(from, to, by.as_ref(), bound, quantifier.span),
        };
        let Some((ty, range)) = range else {
            self.declare(&quantifier.name, Meaning::Unknown);
            return None;
        };
        let name = &quantifier.name;
        let local = match known {
            Some(local) => local,
            None => self.owner.local(&name.text, ty, LocalKind::Parameter, name.span),
        };
        let noun = match bound {
            Bound::Expression => "quantifier variable",
            Bound::Loop => "loop variable",
            Bound::Ruleset => "ruleset parameter",
        };
        let operand = self.place_operand(Root::Local(local), ty, Access::Writable, name.span);
        self.declare(name, Meaning::named(operand, noun));
        Some((local, range))
    }

    fn check_quantified_type(&mut self, id: quotient_ir::TypeId, bound: Bound, span: Span) -> Option<()> {
        if self.model.is_scalar(id) {
            return Some(());
        }
        let error = if self.contains_multiset(id) {
            Diagnostic::error("bad-quantifier", "nothing can range over the values of a multiset", span)
        } else if bound != Bound::Ruleset {
            Diagnostic::error("bad-quantifier", "only a ruleset parameter can range over arrays or records", span)
                .with_help("range over the indices, or over each field by itself")
        } else if self.extent(id) > MOST_CELLS {
            Diagnostic::error("type-too-large", "this parameter is too large", span)
        } else {
            return Some(());
        };
        self.report(error.with_label(format!("this is {}", self.type_text(id))));
        None
    }

    fn steps(
        &mut self,
        from: &tree::Expr,
        to: &tree::Expr,
        by: Option<&tree::Expr>,
        bound: Bound,
        span: Span,
    ) -> Option<(quotient_ir::TypeId, Iteration)> {
        let ends = |lowering: &mut Self| (lowering.expression(from), lowering.expression(to));
        // Whether there are steps is asked before them, see `steps_are_some`.
        let (from, to) = match self.steps_may_be_none && bound != Bound::Ruleset {
            true => self.in_pure_context("in the bounds of a range", ends),
            false => ends(self),
        };
        let by = by.map(|by| self.expression(by));
        let mut right = self.expect_bound(&from, "the first value");
        right &= self.expect_bound(&to, "the last value");
        if let Some(by) = &by {
            right &= self.expect_bound(by, "the step");
        }
        if bound == Bound::Ruleset {
            for operand in [Some(&from), Some(&to), by.as_ref()].into_iter().flatten() {
                right &= self.known_value(operand, "the range of a ruleset parameter").is_some();
            }
        }
        if !right {
            return None;
        }
        let step = match by.as_ref().map(|by| by.constancy) {
            Some(Constancy::Known(step)) => Some(step),
            Some(_) => None,
            None => Some(1),
        };
        let ends = match (from.constancy, to.constancy) {
            (Constancy::Known(from), Constancy::Known(to)) => Some((from, to)),
            _ => None,
        };
        self.check_direction(ends, step, by.as_ref(), bound, span)?;
        let ty = match ends {
            Some((first, last)) => self.range_type(first.min(last), first.max(last)),
            None => Model::INTEGER,
        };
        let (from, to) = (self.value_of(&from), self.value_of(&to));
        let step = by.map(|by| self.value_of(&by));
        Some((ty, Iteration::Steps { from, to, step }))
    }

    /// Refuses loops that would never end, as far as that is known beforehand.
    fn check_direction(
        &mut self,
        ends: Option<(i64, i64)>,
        step: Option<i64>,
        by: Option<&Operand>,
        bound: Bound,
        span: Span,
    ) -> Option<()> {
        let place = by.map_or(span, |by| by.span);
        let error = match (ends, step) {
            (_, Some(0)) => Diagnostic::error("endless-steps", "a step of 0 never arrives", place),
            (Some((from, to)), Some(step)) if (from < to && step < 0) || (from > to && step > 0) => {
                let error = Diagnostic::error("endless-steps", "these steps lead away from the last value", place)
                    .with_label(format!("from {from} to {to} by {step}"));
                match by {
                    None => error.with_help(format!("to count down write `{from} to {to} by -1`")),
                    Some(_) => error.with_help("turn the sign of the step"),
                }
            }
            _ => return Some(()),
        };
        if step != Some(0) && self.steps_may_be_none && bound != Bound::Ruleset {
            let message = "there are no steps, since they would lead away from the last value";
            self.report(Diagnostic { severity: Severity::Warning, message: message.to_owned(), ..error });
            return Some(());
        }
        self.report(error);
        None
    }

    /// The condition under which a loop or quantifier has any steps, if it may have none: in CMurphi, `1 to 0` has none,
    /// while rumur counts down.
    pub(super) fn steps_are_some(&mut self, range: &Iteration) -> Option<ExprId> {
        let &Iteration::Steps { from, to, step } = range else { return None };
        if !self.steps_may_be_none {
            return None;
        }
        let operator = match step.map(|step| &self.model.pool[step]) {
            None => BinaryOperator::LessOrEqual,
            Some(&Expr::Constant { value, .. }) if value > 0 => BinaryOperator::LessOrEqual,
            Some(&Expr::Constant { .. }) => BinaryOperator::GreaterOrEqual,
            Some(_) => return None,
        };
        let constant = |id| match self.model.pool[id] {
            Expr::Constant { value, .. } => Some(value),
            _ => None,
        };
        if let (Some(from), Some(to)) = (constant(from), constant(to))
            && (from == to || (from < to) == (operator == BinaryOperator::LessOrEqual))
        {
            return None;
        }
        Some(self.model.pool.expression(Expr::Binary { operator, left: from, right: to }))
    }

    fn expect_bound(&mut self, operand: &Operand, what: &str) -> bool {
        let Some(ty) = operand.ty else { return false };
        if let TypeKind::Scalarset { .. } = self.model.types[ty].kind {
            let text = self.type_text(ty);
            let error =
                Diagnostic::error("scalarset-steps", format!("steps cannot go through scalarset {text}"), operand.span)
                    .with_label("the values of a scalarset have no order")
                    .with_help(format!("go through all of them with `: {}`", text.replace('`', "")));
            self.report(error);
            return false;
        }
        self.expect_fit(Some(Model::INTEGER), operand, what)
    }
}
