//! CMurphi's keyword `undefined`, which means no value.
//!
//! CMurphi accepts it as an assigned value and as an argument. A model that uses it there cannot be meant for rumur, so
//! undefined values are treated in it as in CMurphi. Assigning an undefined variable copies that it is undefined, and
//! two values of a scalarset or union can be compared although one or both are undefined; an undefined value is a
//! member of nothing. CMurphi's translator tests for the first (`isundefined`, then `undefine`); the second results
//! from its classes for scalarsets and unions, which convert without the test that other types have.

use quotient_ir::{
    Argument, BinaryOperator as LoweredOperator, Diagnostic, Expr as Lowered, ExprId, LocalKind, Model, PlaceId, Root,
    Span, Statement, StatementKind, TypeId, TypeKind, UnaryOperator,
};

use super::super::syntax::tree::{BinaryOperator, Expr, ExprKind};
use super::Lowering;
use super::functions::Formal;
use super::operands::{Constancy, Form, Operand};
use super::owners::OwnerKind;

impl Lowering<'_> {
    /// `undefined` where only a value will do.
    pub(super) fn misplaced_undefined(&mut self, span: Span) -> Operand {
        let error = Diagnostic::error("undefined-value", "`undefined` cannot be used here", span)
            .with_label("this means no value")
            .with_help("it can be assigned (`x := undefined`), be an argument (`f(undefined)`), and be compared with a variable (`x = undefined`)");
        self.report(error);
        Self::unknown(span)
    }

    pub(super) fn refuse_undefined_result(&mut self, span: Span) {
        let error = Diagnostic::error("undefined-value", "a function cannot return `undefined`", span)
            .with_label("no value here")
            .with_help(
                "a call in an expression has a value; write to a `var` parameter instead, which can be undefined",
            );
        self.report(error);
    }

    /// `undefined` as an argument.
    pub(super) fn undefined_argument(&mut self, formal: &Formal, span: Span) -> Option<Argument> {
        formal.ty?;
        if !formal.by_reference {
            return Some(Argument::Undefined);
        }
        let message = format!("`undefined` cannot be passed for the `var` parameter `{}`", formal.name);
        let error = Diagnostic::error("undefined-value", message, span)
            .with_label("this is not a variable")
            .with_secondary(formal.span, "passed by reference")
            .with_help("pass a variable, and undefine it before if it should have no value");
        self.report(error);
        None
    }

    /// `x = undefined` and `x != undefined`: whether a variable has no value. Nothing for other comparisons.
    pub(super) fn comparison_with_undefined(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Option<Operand> {
        if !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
            return None;
        }
        let other = match (&left.kind, &right.kind) {
            // The left side is then checked like any operand, and refused.
            (ExprKind::Undefined, ExprKind::Undefined) => return None,
            (ExprKind::Undefined, _) => right,
            (_, ExprKind::Undefined) => left,
            _ => return None,
        };
        let undefined = self.without_value(other, "what is compared with `undefined`", span);
        let Form::Value(value) = undefined.form else { return Some(undefined) };
        Some(match operator {
            BinaryOperator::Equal => undefined,
            _ => self.value_operand(
                Lowered::Unary { operator: UnaryOperator::Not, operand: value },
                Model::BOOLEAN,
                span,
            ),
        })
    }

    /// Whether a place may be undefined: anything except parameters of rulesets, of quantifiers and of loops.
    pub(super) fn may_be_undefined(&self, place: PlaceId) -> bool {
        let Root::Local(local) = self.model.pool[place].root else { return true };
        let is_formal = matches!(self.owner.kind, OwnerKind::Function { .. } | OwnerKind::Procedure);
        self.owner.locals[local].kind != LocalKind::Parameter || is_formal
    }

    fn is_undefined_at(&mut self, place: PlaceId) -> ExprId {
        self.model.pool.expression(Lowered::IsUndefined(place))
    }

    /// A condition on the contents of a place that is false, if CMurphi does not detect it, where the place is
    /// undefined.
    pub(super) fn unless_undefined(&mut self, place: PlaceId, ty: Option<TypeId>, condition: ExprId) -> ExprId {
        if !self.is_unchecked(ty) || !self.may_be_undefined(place) {
            return condition;
        }
        let undefined = self.is_undefined_at(place);
        let defined = Lowered::Unary { operator: UnaryOperator::Not, operand: undefined };
        let defined = self.model.pool.expression(defined);
        self.joined(LoweredOperator::And, &[defined, condition])
    }

    /// Whether CMurphi reads values of a type without testing whether they are defined.
    fn is_unchecked(&self, ty: Option<TypeId>) -> bool {
        let kind = ty.map(|ty| &self.model.types[ty].kind);
        matches!(kind, Some(TypeKind::Scalarset { .. } | TypeKind::Union { .. }))
    }

    /// A comparison of two values of a scalarset or union, of which each may be undefined: both are or neither is,
    /// and then they are equal. Other comparisons stay as they are.
    pub(super) fn or_both_undefined(
        &mut self,
        operator: LoweredOperator,
        equality: Operand,
        left: &Operand,
        right: &Operand,
    ) -> Operand {
        if equality.form == Form::Nothing {
            return equality;
        }
        let mut undefined = Vec::new();
        let mut same = Vec::new();
        for side in [left, right] {
            let unchecked = self.is_unchecked(side.ty);
            match side.form {
                Form::Place(place) if !self.may_be_undefined(place) => {}
                Form::Place(place) if unchecked => undefined.push(self.is_undefined_at(place)),
                Form::Value(_) if matches!(side.constancy, Constancy::Known(_)) => {}
                // A member of a union that has no value is an error whatever it is compared with.
                Form::Place(_) => {
                    let value = self.value_of(side);
                    let read = Lowered::Binary { operator: LoweredOperator::Equal, left: value, right: value };
                    same.push(self.model.pool.expression(read));
                }
                // What an expression evaluates must be evaluated, and once.
                Form::Value(_) | Form::Nothing => return equality,
            }
        }
        if undefined.is_empty() {
            return equality;
        }
        let (left, right) = (self.value_of(left), self.value_of(right));
        let pool = &mut self.model.pool;
        for &operand in &undefined {
            same.push(pool.expression(Lowered::Unary { operator: UnaryOperator::Not, operand }));
        }
        same.push(pool.expression(Lowered::Binary { operator: LoweredOperator::Equal, left, right }));
        let same = self.joined(LoweredOperator::And, &same);
        let same = if undefined.len() == 2 {
            let both = self.joined(LoweredOperator::And, &undefined);
            self.joined(LoweredOperator::Or, &[both, same])
        } else {
            same
        };
        let form = match operator {
            LoweredOperator::Equal => same,
            _ => self.model.pool.expression(Lowered::Unary { operator: UnaryOperator::Not, operand: same }),
        };
        Operand { form: Form::Value(form), ..equality }
    }

    /// Assigns the value of a variable, or that it is undefined. If evaluating the places calls functions, they are
    /// evaluated `once`, the target first.
    pub(super) fn copy_or_undefine(
        &mut self,
        (target, target_operand): (PlaceId, &Operand),
        (source, source_operand): (PlaceId, &Operand),
        once: bool,
        span: Span,
        output: &mut Vec<Statement>,
    ) -> StatementKind {
        let mut bound = |this: &mut Self, place: PlaceId, operand: &Operand, name: &str| {
            let Some(ty) = operand.ty.filter(|_| once) else { return place };
            let origin = this.origin(place);
            let local = this.owner.reference(name, ty, LocalKind::Reference, origin, operand.span);
            output.push(Statement { kind: StatementKind::Bind { local, place }, span });
            this.local_place(local)
        };
        let target = bound(self, target, target_operand, "target");
        let source = bound(self, source, source_operand, "source");
        let undefined = self.is_undefined_at(source);
        let value = self.model.pool.expression(Lowered::Read(source));
        let statement = |kind| vec![Statement { kind, span }];
        StatementKind::If {
            branches: vec![(undefined, statement(StatementKind::Undefine(target)))],
            otherwise: statement(StatementKind::Assign { target, value }),
        }
    }
}
