//! Numbers: arithmetic by cases where these are few, by linear forms and opaque operations otherwise.

use quotient_ir::{BinaryOperator, Expr, ExprId, UnaryOperator};

use super::{NODE_LIMIT, Refusal, Unfolder};
use crate::circuit::{NodeId, Operation, TooLarge, Value, shift};

impl<'m> Unfolder<'m> {
    pub(super) fn scalar(&mut self, expression: ExprId) -> Result<Value, Refusal> {
        self.charge(1)?;
        if self.circuit.len() > NODE_LIMIT {
            return Err(Refusal::Size);
        }
        match &self.model.pool[expression] {
            &Expr::Constant { value, .. } => Ok(self.circuit.constant(value)),
            Expr::Read(place) => {
                let targets = self.targets(*place)?;
                let cell = self.load_any(&targets)?;
                self.fault(cell.undefined);
                Ok(cell.value)
            }
            Expr::Unary { operator: UnaryOperator::Negate, operand } => {
                let operand = self.scalar(*operand)?;
                let zero = self.circuit.constant(0);
                Ok(self.circuit.sum(&zero, -1, &operand)?)
            }
            Expr::Unary { operator: UnaryOperator::Complement, operand } => {
                let operand = self.scalar(*operand)?;
                let minus_one = self.circuit.constant(-1);
                Ok(self.circuit.sum(&minus_one, -1, &operand)?)
            }
            Expr::Binary { operator, left, right } if operator.is_arithmetic() => {
                let left = self.scalar(*left)?;
                let right = self.scalar(*right)?;
                self.arithmetic(*operator, &left, &right)
            }
            Expr::Conditional { condition, then, otherwise } => {
                let condition = self.condition(*condition)?;
                let opposite = self.circuit.not(condition);
                let then = self.scalar_under(*then, condition)?;
                let otherwise = self.scalar_under(*otherwise, opposite)?;
                Ok(match (then, otherwise) {
                    (Some(then), Some(otherwise)) => self.circuit.choose_value(condition, &then, &otherwise)?,
                    (Some(value), None) | (None, Some(value)) => value,
                    (None, None) => self.circuit.nothing(),
                })
            }
            Expr::Call { function, arguments } => {
                let result = self.call(*function, arguments)?.and_then(|cells| cells.into_iter().next());
                let Some(cell) = result else { return Ok(self.circuit.nothing()) };
                self.fault(cell.undefined);
                Ok(cell.value)
            }
            Expr::Count { local, multiset, body } => self.count(*local, *multiset, *body),
            Expr::IsPresent { multiset, position } => {
                let present = self.is_present(*multiset, *position)?;
                Ok(self.circuit.indicator(present))
            }
            _ => {
                let condition = self.condition(expression)?;
                Ok(self.circuit.indicator(condition))
            }
        }
    }

    pub(super) fn scalar_under(&mut self, expression: ExprId, assumption: NodeId) -> Result<Option<Value>, Refusal> {
        let saved = self.alive;
        self.alive = self.circuit.and([saved, assumption]);
        let value = if self.alive == NodeId::FALSE { Ok(None) } else { self.scalar(expression).map(Some) };
        self.alive = saved;
        value
    }

    pub(super) fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: &Value,
        right: &Value,
    ) -> Result<Value, Refusal> {
        if left.is_nothing() || right.is_nothing() {
            return Ok(self.circuit.nothing());
        }
        if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder) {
            let zero = self.circuit.equals_constant(right, 0)?;
            self.fault(zero);
        }
        match operator {
            BinaryOperator::Add => return Ok(self.circuit.sum(left, 1, right)?),
            BinaryOperator::Subtract => return Ok(self.circuit.sum(left, -1, right)?),
            _ => {}
        }
        let function = |a: i64, b: i64| match operator {
            BinaryOperator::Multiply => a.checked_mul(b),
            BinaryOperator::Divide => a.checked_div(b),
            BinaryOperator::Remainder => a.checked_rem(b),
            BinaryOperator::ShiftLeft => Some(shift(a, b)),
            BinaryOperator::ShiftRight => Some(shift(a, b.saturating_neg())),
            BinaryOperator::BitAnd => Some(a & b),
            BinaryOperator::BitOr => Some(a | b),
            BinaryOperator::BitXor => Some(a ^ b),
            _ => unreachable!("only arithmetic comes here"),
        };
        if overflows(operator, left, right, &function) {
            return Err(Refusal::TooLarge(TooLarge::Overflow));
        }
        if let Some(value) = self.circuit.combine(left, right, function) {
            return Ok(value?);
        }
        if matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder)
            && self.circuit.range(left).0 == i64::MIN
        {
            return Err(Refusal::TooLarge(TooLarge::Overflow));
        }
        let operation = match operator {
            BinaryOperator::Multiply => return Ok(self.circuit.product(left, right)?),
            BinaryOperator::Divide => Operation::Divide,
            BinaryOperator::Remainder => Operation::Remainder,
            BinaryOperator::ShiftLeft => Operation::ShiftLeft,
            BinaryOperator::ShiftRight => Operation::ShiftRight,
            BinaryOperator::BitAnd => Operation::BitAnd,
            BinaryOperator::BitOr => Operation::BitOr,
            _ => Operation::BitXor,
        };
        Ok(self.circuit.operation(operation, left, right)?)
    }
}

/// Whether an operation on two numbers with few cases has no result for some of them, other than because of a division
/// by zero.
fn overflows(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
    function: &impl Fn(i64, i64) -> Option<i64>,
) -> bool {
    let (Some(left), Some(right)) = (&left.cases, &right.cases) else { return false };
    let divides = matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
    let of = |a: i64, b: i64| !(divides && b == 0) && function(a, b).is_none();
    left.iter().any(|&(a, _)| right.iter().any(|&(b, _)| of(a, b)))
}
