//! Operators: the types they accept, their representation, and constant folding.

use quotient_ir::{
    BinaryOperator as Lowered, Diagnostic, Expr as LoweredExpr, ExprId, Model, Place, Root, Span, TypeId, TypeKind,
};
use quotient_kit::joined;

use super::super::syntax::tree::{BinaryOperator, Expr, UnaryOperator};
use super::Lowering;
use super::operands::{Access, Constancy, Failure, Form, Operand};
use super::types::Fit;

impl Lowering<'_> {
    pub(super) fn unary(&mut self, operator: UnaryOperator, operand: &Expr, span: Span) -> Operand {
        let operand = self.expression(operand);
        let (expected, lowered, sign) = match operator {
            UnaryOperator::Not => (Model::BOOLEAN, Some(quotient_ir::UnaryOperator::Not), "!"),
            UnaryOperator::Minus => (Model::INTEGER, Some(quotient_ir::UnaryOperator::Negate), "-"),
            UnaryOperator::Complement => (Model::INTEGER, Some(quotient_ir::UnaryOperator::Complement), "~"),
            UnaryOperator::Plus => (Model::INTEGER, None, "+"),
        };
        let what = format!("the operand of `{sign}`");
        let right = if expected == Model::BOOLEAN {
            self.expect_boolean(&operand, &what);
            operand.ty == Some(Model::BOOLEAN)
        } else {
            self.expect_fit(Some(Model::INTEGER), &operand, &what)
        };
        if !right {
            return Self::unknown(span);
        }
        let value = self.value_of(&operand);
        let Some(lowered) = lowered else {
            return Operand {
                ty: Some(expected),
                form: Form::Value(value),
                access: Access::ValueOnly,
                span,
                ..operand
            };
        };
        let constancy = match operand.constancy {
            Constancy::Known(value) => {
                let result = match lowered {
                    quotient_ir::UnaryOperator::Not => Some(i64::from(value == 0)),
                    quotient_ir::UnaryOperator::Negate => value.checked_neg(),
                    quotient_ir::UnaryOperator::Complement => Some(!value),
                };
                result.map_or(Constancy::Fails(span, Failure::Overflow), Constancy::Known)
            }
            other => other,
        };
        let expression = LoweredExpr::Unary { operator: lowered, operand: value };
        self.folded(expression, expected, constancy, span)
    }

    pub(super) fn binary(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, span: Span) -> Operand {
        if let Some(comparison) = self.comparison_with_undefined(operator, left, right, span) {
            return comparison;
        }
        let calls_before = self.owner.calls;
        let left = self.expression(left);
        let right = self.expression(right);
        let calls = self.owner.calls > calls_before;
        match operator {
            BinaryOperator::Equal | BinaryOperator::NotEqual if self.undefined_is_a_value && !calls => {
                let (lowered, sign) = match operator {
                    BinaryOperator::Equal => (Lowered::Equal, "="),
                    _ => (Lowered::NotEqual, "!="),
                };
                let equality = self.equality(lowered, sign, &left, &right, span);
                self.or_both_undefined(lowered, equality, &left, &right)
            }
            BinaryOperator::Implies => self.logical(Lowered::Implies, "->", &left, &right, span),
            BinaryOperator::OrOr => self.logical(Lowered::Or, "||", &left, &right, span),
            BinaryOperator::AndAnd => self.logical(Lowered::And, "&&", &left, &right, span),
            BinaryOperator::Pipe => self.logical_or_bitwise(Lowered::Or, Lowered::BitOr, "|", &left, &right, span),
            BinaryOperator::Ampersand => {
                self.logical_or_bitwise(Lowered::And, Lowered::BitAnd, "&", &left, &right, span)
            }
            BinaryOperator::Caret => {
                self.logical_or_bitwise(Lowered::NotEqual, Lowered::BitXor, "^", &left, &right, span)
            }
            BinaryOperator::Equal => self.equality(Lowered::Equal, "=", &left, &right, span),
            BinaryOperator::NotEqual => self.equality(Lowered::NotEqual, "!=", &left, &right, span),
            BinaryOperator::Less => self.order(Lowered::Less, "<", &left, &right, span),
            BinaryOperator::LessOrEqual => self.order(Lowered::LessOrEqual, "<=", &left, &right, span),
            BinaryOperator::Greater => self.order(Lowered::Greater, ">", &left, &right, span),
            BinaryOperator::GreaterOrEqual => self.order(Lowered::GreaterOrEqual, ">=", &left, &right, span),
            BinaryOperator::ShiftLeft => self.arithmetic(Lowered::ShiftLeft, "<<", &left, &right, span),
            BinaryOperator::ShiftRight => self.arithmetic(Lowered::ShiftRight, ">>", &left, &right, span),
            BinaryOperator::Add => self.arithmetic(Lowered::Add, "+", &left, &right, span),
            BinaryOperator::Subtract => self.arithmetic(Lowered::Subtract, "-", &left, &right, span),
            BinaryOperator::Multiply => self.arithmetic(Lowered::Multiply, "*", &left, &right, span),
            BinaryOperator::Divide => self.arithmetic(Lowered::Divide, "/", &left, &right, span),
            BinaryOperator::Remainder => self.arithmetic(Lowered::Remainder, "%", &left, &right, span),
        }
    }

    fn logical(&mut self, operator: Lowered, sign: &str, left: &Operand, right: &Operand, span: Span) -> Operand {
        self.expect_boolean(left, &format!("the left side of `{sign}`"));
        self.expect_boolean(right, &format!("the right side of `{sign}`"));
        let right_types = [left, right].iter().all(|operand| operand.ty == Some(Model::BOOLEAN));
        self.combined(right_types, operator, left, right, Model::BOOLEAN, span)
    }

    fn logical_or_bitwise(
        &mut self,
        logical: Lowered,
        bitwise: Lowered,
        sign: &str,
        left: &Operand,
        right: &Operand,
        span: Span,
    ) -> Operand {
        match (left.ty, right.ty) {
            (None, _) | (_, None) => Self::unknown(span),
            (Some(Model::BOOLEAN), _) | (_, Some(Model::BOOLEAN)) => self.logical(logical, sign, left, right, span),
            _ => self.arithmetic(bitwise, sign, left, right, span),
        }
    }

    fn arithmetic(&mut self, operator: Lowered, sign: &str, left: &Operand, right: &Operand, span: Span) -> Operand {
        let left_is_right = self.expect_number(left, "left", sign);
        let right_is_right = self.expect_number(right, "right", sign);
        self.combined(left_is_right && right_is_right, operator, left, right, Model::INTEGER, span)
    }

    /// Checks that one side of an operator is an integer.
    fn expect_number(&mut self, operand: &Operand, side: &str, sign: &str) -> bool {
        let Some(ty) = operand.ty else { return false };
        if self.is_scalarset(ty) {
            let message = format!("`{sign}` does not work on scalarset {}", self.type_text(ty));
            let error = Diagnostic::error("scalarset-arithmetic", message, operand.span)
                .with_label("a value of a scalarset is not a number")
                .with_help("the values of a scalarset are interchangeable and have no numbers; use a range if they should have");
            self.report(error);
            return false;
        }
        self.expect_fit(Some(Model::INTEGER), operand, &format!("the {side} side of `{sign}`"))
    }

    fn order(&mut self, operator: Lowered, sign: &str, left: &Operand, right: &Operand, span: Span) -> Operand {
        let scalarset = [left, right].into_iter().find(|side| side.ty.is_some_and(|ty| self.is_scalarset(ty)));
        let right_types = if let Some(side) = scalarset {
            let ty = side.ty.expect("it is a scalarset");
            let message = format!("the values of scalarset {} have no order", self.type_text(ty));
            let error = Diagnostic::error("scalarset-order", message, side.span)
                .with_label(format!("compared with `{sign}` here"))
                .with_help(
                    "they are interchangeable: only `=` and `!=` compare them; use a range if the order matters",
                );
            self.report(error);
            false
        } else {
            let left_is_right = self.expect_number(left, "left", sign);
            let right_is_right = self.expect_number(right, "right", sign);
            left_is_right && right_is_right
        };
        self.combined(right_types, operator, left, right, Model::BOOLEAN, span)
    }

    fn equality(&mut self, operator: Lowered, sign: &str, left: &Operand, right: &Operand, span: Span) -> Operand {
        let (Some(left_type), Some(right_type)) = (left.ty, right.ty) else { return Self::unknown(span) };
        let fits = match self.fit(left_type, right_type) {
            Fit::Yes => true,
            Fit::MixedScalarsets => {
                self.warn_mixed(left_type, right_type, span);
                true
            }
            Fit::No => {
                self.report_not_comparable(sign, left, right, span);
                false
            }
        };
        if fits && !self.model.is_scalar(left_type) {
            if self.contains_multiset(left_type) {
                let error = Diagnostic::error("multiset-comparison", "multisets cannot be compared", span)
                    .with_help("count the elements that matter with `multisetcount`");
                self.report(error);
                return Self::unknown(span);
            }
            let (Form::Place(left), Form::Place(right)) = (left.form, right.form) else { return Self::unknown(span) };
            let same = LoweredExpr::SameContents { left, right };
            if operator == Lowered::Equal {
                return self.value_operand(same, Model::BOOLEAN, span);
            }
            let same = self.model.pool.expression(same);
            let different = LoweredExpr::Unary { operator: quotient_ir::UnaryOperator::Not, operand: same };
            return self.value_operand(different, Model::BOOLEAN, span);
        }
        self.combined(fits, operator, left, right, Model::BOOLEAN, span)
    }

    fn report_not_comparable(&mut self, sign: &str, left: &Operand, right: &Operand, span: Span) {
        let (Some(left_type), Some(right_type)) = (left.ty, right.ty) else { return };
        let number_with_scalarset = |one: TypeId, other: TypeId| self.is_scalarset(one) && self.is_integer(other);
        let code = if number_with_scalarset(left_type, right_type) || number_with_scalarset(right_type, left_type) {
            "scalarset-from-number"
        } else {
            "not-comparable"
        };
        let mut error = Diagnostic::error(code, format!("the two sides of `{sign}` cannot be compared"), span)
            .with_label("different types")
            .with_secondary(left.span, self.of_type(left_type))
            .with_secondary(right.span, self.of_type(right_type));
        if code == "scalarset-from-number" {
            error = error.with_help("the values of a scalarset are interchangeable and have no numbers");
        } else if let (TypeKind::Enumeration { members, .. }, true) =
            (&self.model.types[left_type].kind, self.is_integer(right_type))
        {
            error = error.with_help(format!("the values of the left side are {}", Self::listed(members)));
        }
        self.report(error);
    }

    /// The operator applied, unless its operands are invalid.
    fn combined(
        &mut self,
        right_types: bool,
        operator: Lowered,
        left: &Operand,
        right: &Operand,
        ty: TypeId,
        span: Span,
    ) -> Operand {
        if !right_types {
            return Self::unknown(span);
        }
        let constancy = match (left.constancy, right.constancy) {
            (Constancy::Known(left), Constancy::Known(right)) => match apply(operator, left, right) {
                Ok(value) => Constancy::Known(value),
                Err(failure) => Constancy::Fails(span, failure),
            },
            // The right side of these is not evaluated, so it need not have a value.
            (Constancy::Known(0), Constancy::Fails(..)) if operator == Lowered::And => Constancy::Known(0),
            (Constancy::Known(0), Constancy::Fails(..)) if operator == Lowered::Implies => Constancy::Known(1),
            (Constancy::Known(1), Constancy::Fails(..)) if operator == Lowered::Or => Constancy::Known(1),
            (Constancy::Varies(span), _) | (_, Constancy::Varies(span)) => Constancy::Varies(span),
            (fails, Constancy::Known(_)) | (_, fails) => fails,
        };
        let (left, right) = (self.value_of(left), self.value_of(right));
        self.folded(LoweredExpr::Binary { operator, left, right }, ty, constancy, span)
    }

    /// Operands joined by `&` or `|`, at least one, evaluated from left to right.
    pub(super) fn joined(&mut self, operator: Lowered, operands: &[ExprId]) -> ExprId {
        let join = |left, right| self.model.pool.expression(LoweredExpr::Binary { operator, left, right });
        joined(operands.to_vec(), join).expect("at least one operand")
    }

    /// An expression, or its value if that is known.
    fn folded(&mut self, expression: LoweredExpr, ty: TypeId, constancy: Constancy, span: Span) -> Operand {
        match constancy {
            Constancy::Known(value) => self.constant_operand(value, ty, span),
            other => Operand { constancy: other, ..self.value_operand(expression, ty, span) },
        }
    }

    pub(super) fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, span: Span) -> Operand {
        let condition_operand = self.expression(condition);
        self.expect_boolean(&condition_operand, "the condition of `?:`");
        let then = self.expression(then);
        let otherwise = self.expression(otherwise);
        let (Some(then_type), Some(otherwise_type)) = (then.ty, otherwise.ty) else {
            return Operand { ty: then.ty.or(otherwise.ty), ..Self::unknown(span) };
        };
        match self.fit(then_type, otherwise_type) {
            Fit::Yes => {}
            Fit::MixedScalarsets => self.warn_mixed(then_type, otherwise_type, span),
            Fit::No => {
                let error = Diagnostic::error("type-mismatch", "the two branches of `?:` have different types", span)
                    .with_secondary(then.span, self.of_type(then_type))
                    .with_secondary(otherwise.span, self.of_type(otherwise_type));
                self.report(error);
                return Self::unknown(span);
            }
        }
        let ty = match (&self.model.types[then_type].kind, &self.model.types[otherwise_type].kind) {
            _ if then_type == otherwise_type => then_type,
            _ if self.is_integer(then_type) => Model::INTEGER,
            (TypeKind::Union { members }, TypeKind::Union { members: others }) => {
                let wider = others.iter().all(|other| members.contains(other));
                if !wider && !members.iter().all(|member| others.contains(member)) {
                    let error =
                        Diagnostic::error("type-mismatch", "the two branches of `?:` have different types", span)
                            .with_help("neither union contains the other");
                    self.report(error);
                    return Self::unknown(span);
                }
                if wider { then_type } else { otherwise_type }
            }
            (_, TypeKind::Union { .. }) => otherwise_type,
            _ => then_type,
        };
        if condition_operand.ty != Some(Model::BOOLEAN) {
            return Operand { ty: Some(ty), ..Self::unknown(span) };
        }
        let condition = self.value_of(&condition_operand);
        if !self.model.is_scalar(ty) {
            let (Form::Place(then), Form::Place(otherwise)) = (then.form, otherwise.form) else {
                return Operand { ty: Some(ty), ..Self::unknown(span) };
            };
            let root = Root::Choice { condition, then, otherwise };
            let place = self.model.pool.place(Place { root, steps: Vec::new(), ty });
            let constancy = Constancy::Varies(span);
            return Operand { ty: Some(ty), form: Form::Place(place), constancy, access: Access::ValueOnly, span };
        }
        let constancy = match (condition_operand.constancy, then.constancy, otherwise.constancy) {
            (Constancy::Varies(span), ..) | (_, Constancy::Varies(span), _) | (.., Constancy::Varies(span)) => {
                Constancy::Varies(span)
            }
            (Constancy::Known(0), _, chosen) | (Constancy::Known(_), chosen, _) => chosen,
            (fails, ..) => fails,
        };
        let (then, otherwise) = (self.value_of(&then), self.value_of(&otherwise));
        self.folded(LoweredExpr::Conditional { condition, then, otherwise }, ty, constancy, span)
    }
}

/// The value of an operator on known operands. Shifts that lose bits are not folded.
fn apply(operator: Lowered, left: i64, right: i64) -> Result<i64, Failure> {
    let overflow = Failure::Overflow;
    match operator {
        Lowered::And => Ok(i64::from(left != 0 && right != 0)),
        Lowered::Or => Ok(i64::from(left != 0 || right != 0)),
        Lowered::Implies => Ok(i64::from(left == 0 || right != 0)),
        Lowered::Equal => Ok(i64::from(left == right)),
        Lowered::NotEqual => Ok(i64::from(left != right)),
        Lowered::Less => Ok(i64::from(left < right)),
        Lowered::LessOrEqual => Ok(i64::from(left <= right)),
        Lowered::Greater => Ok(i64::from(left > right)),
        Lowered::GreaterOrEqual => Ok(i64::from(left >= right)),
        Lowered::Add => left.checked_add(right).ok_or(overflow),
        Lowered::Subtract => left.checked_sub(right).ok_or(overflow),
        Lowered::Multiply => left.checked_mul(right).ok_or(overflow),
        Lowered::Divide | Lowered::Remainder if right == 0 => Err(Failure::DivisionByZero),
        Lowered::Divide => left.checked_div(right).ok_or(overflow),
        Lowered::Remainder => left.checked_rem(right).ok_or(overflow),
        Lowered::ShiftLeft => shifted_left(left, right).ok_or(overflow),
        Lowered::ShiftRight => right.checked_neg().and_then(|count| shifted_left(left, count)).ok_or(overflow),
        Lowered::BitAnd => Ok(left & right),
        Lowered::BitOr => Ok(left | right),
        Lowered::BitXor => Ok(left ^ right),
    }
}

fn shifted_left(value: i64, count: i64) -> Option<i64> {
    match count {
        0..=62 => Some(value << count).filter(|shifted| shifted >> count == value),
        -62..=-1 => Some(value >> -count),
        _ => None,
    }
}
