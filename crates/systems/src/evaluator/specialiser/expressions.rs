//! Conditions and integer expressions.

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Iteration, LocalId, Model, Quantifier, TypeId, TypeKind, UnaryOperator,
};

use super::calls::Called;
use super::fields::{Junction, compare_slot};
use super::places::{Base, Contents};
use super::{Binding, Specialiser, Unsupported};
use crate::evaluator::code::{DomainId, Loop, LoopId, LoopValues, Test, TestId, Value};
use crate::evaluator::machine::calculate;

/// The largest number of iterations for which a loop is unrolled, including those of enclosing loops.
const UNROLLING_LIMIT: u64 = 64;
/// The work of the reference interpreter beyond which a unit is no longer unrolled.
const WEIGHT_LIMIT: u64 = 20_000;

/// The values of a loop.
pub(super) enum Range {
    /// Few and known: to be unrolled.
    Unrolled(Vec<i64>),
    /// To be computed by the machine.
    AtRunTime(LoopValues),
    /// The reference interpreter has to decide.
    Escape,
}

impl<'m> Specialiser<'m> {
    /// A condition as tests that must all succeed, in order.
    pub(super) fn conjuncts(&mut self, condition: ExprId) -> Result<Vec<TestId>, Unsupported> {
        let tests = match self.test(condition)? {
            Test::AllOf(list) => self.code.test_lists.get(list).to_vec(),
            Test::Constant(true) => Vec::new(),
            test => vec![self.code.tests.add(test)],
        };
        Ok(tests)
    }

    /// The id of a condition.
    pub(super) fn test_id(&mut self, condition: ExprId) -> Result<TestId, Unsupported> {
        let test = self.test(condition)?;
        Ok(self.code.tests.add(test))
    }

    /// A condition.
    pub(super) fn test(&mut self, condition: ExprId) -> Result<Test, Unsupported> {
        self.nested(|specialiser| specialiser.test_here(condition))
    }

    fn test_here(&mut self, condition: ExprId) -> Result<Test, Unsupported> {
        let model: &'m Model = self.model;
        match &model.pool[condition] {
            Expr::Constant { value, .. } => Ok(Test::Constant(*value != 0)),
            Expr::Read(place) => {
                let contents = self.read(*place)?;
                if let Contents::Slot(slot) = contents
                    && let Some(test) = compare_slot(&self.code.slots[slot as usize], BinaryOperator::NotEqual, 0)
                {
                    return Ok(test);
                }
                let value = self.value_of(contents);
                Ok(self.nonzero(value))
            }
            Expr::Unary { operator: UnaryOperator::Not, operand } => {
                let test = self.test(*operand)?;
                Ok(self.negate(test))
            }
            Expr::Binary { operator: BinaryOperator::And, .. } => self.chain(condition, Junction::All),
            Expr::Binary { operator: BinaryOperator::Or, .. } => self.chain(condition, Junction::Any),
            Expr::Binary { operator: BinaryOperator::Implies, left, right } => {
                let left = self.test(*left)?;
                let left = self.negate(left);
                let mut tests = Vec::new();
                if self.join(Junction::Any, &mut tests, left) {
                    let right = self.test(*right)?;
                    self.join(Junction::Any, &mut tests, right);
                }
                Ok(self.joined(Junction::Any, &tests))
            }
            Expr::Binary { operator, left, right } if operator.is_comparison() => {
                self.comparison(*operator, *left, *right)
            }
            Expr::Conditional { condition, then, otherwise } => match self.test(*condition)? {
                Test::Constant(true) => self.test(*then),
                Test::Constant(false) => self.test(*otherwise),
                condition => Ok(Test::Conditional {
                    condition: self.code.tests.add(condition),
                    then: self.test_id(*then)?,
                    otherwise: self.test_id(*otherwise)?,
                }),
            },
            Expr::Quantified { quantifier, local, range, body } => self.quantified(*quantifier, *local, range, *body),
            Expr::IsUndefined(place) => {
                if self.known(*place).is_some() {
                    return Ok(Test::Constant(false));
                }
                let location = self.locate(*place)?;
                if let Base::Slot(slot) = location.base {
                    let field = self.code.slots[slot as usize].field;
                    return Ok(if field.partial {
                        // As a total field, since zero is a result here.
                        let (word, mask) = (field.word, field.mask << field.shift);
                        Test::FieldIs { word, partial: false, mask, pattern: 0 }
                    } else {
                        Test::Constant(false)
                    });
                }
                Ok(Test::Undefined(self.address_of(location)))
            }
            Expr::IsPresent { multiset, position } => {
                let multiset = self.locate(*multiset)?;
                Ok(Test::Present(self.position(multiset, *position)?))
            }
            Expr::IsMember { value, ty } => {
                let value = self.value(*value)?;
                let domain = self.domain(*ty)?;
                Ok(Test::Member { value: self.code.values.add(value), domain })
            }
            Expr::SameContents { left, right } => {
                let cells = self.cells(model.pool[*left].ty)?;
                self.context.weight += u64::from(cells);
                let left = self.locate(*left)?;
                let left = self.address_of(left);
                let right = self.locate(*right)?;
                Ok(Test::SameContents { left, right: self.address_of(right), cells })
            }
            Expr::Call { function, arguments } => match self.call_for_result(*function, arguments, Self::test)? {
                Called::Unfolded(test) => Ok(test),
                Called::Command(command, cell) => Ok(self.nonzero(Value::After { command, cell })),
            },
            Expr::Unary { .. } | Expr::Binary { .. } | Expr::Count { .. } => {
                let value = self.value(condition)?;
                Ok(self.nonzero(value))
            }
        }
    }

    fn nonzero(&mut self, value: Value) -> Test {
        match value {
            Value::Constant(value) => Test::Constant(value != 0),
            Value::Truth(test) => self.code.tests[test],
            Value::Escape => Test::Escape,
            _ => Test::Nonzero(self.code.values.add(value)),
        }
    }

    /// A chain of one operator. Such chains may be long, so they are traversed without recursion.
    fn chain(&mut self, condition: ExprId, junction: Junction) -> Result<Test, Unsupported> {
        let operator_of_chain = match junction {
            Junction::All => BinaryOperator::And,
            Junction::Any => BinaryOperator::Or,
        };
        let model: &'m Model = self.model;
        let mut waiting = vec![condition];
        let mut tests = Vec::new();
        while let Some(operand) = waiting.pop() {
            match &model.pool[operand] {
                Expr::Binary { operator, left, right } if *operator == operator_of_chain => {
                    self.context.weight += 1;
                    waiting.extend([*right, *left]);
                }
                _ => {
                    let test = self.test(operand)?;
                    if !self.join(junction, &mut tests, test) {
                        break;
                    }
                }
            }
        }
        Ok(self.joined(junction, &tests))
    }

    fn comparison(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> Result<Test, Unsupported> {
        let left = self.operand(left)?;
        let right = self.operand(right)?;
        let direct = match (left, right) {
            (Contents::Slot(slot), Contents::Value(Value::Constant(constant))) => {
                compare_slot(&self.code.slots[slot as usize], operator, constant)
            }
            (Contents::Value(Value::Constant(constant)), Contents::Slot(slot)) => {
                compare_slot(&self.code.slots[slot as usize], mirrored(operator), constant)
            }
            _ => None,
        };
        if let Some(test) = direct {
            return Ok(test);
        }
        match (self.value_of(left), self.value_of(right)) {
            (Value::Constant(left), Value::Constant(right)) => {
                Ok(calculate(operator, left, right).map_or(Test::Escape, |value| Test::Constant(value != 0)))
            }
            (Value::Escape, _) => Ok(Test::Escape),
            (left, right) => {
                let left = self.code.values.add(left);
                Ok(Test::Compare { operator, left, right: self.code.values.add(right) })
            }
        }
    }

    /// An operand of a comparison.
    fn operand(&mut self, expression: ExprId) -> Result<Contents, Unsupported> {
        match self.model.pool[expression] {
            Expr::Read(place) => self.read(place),
            _ => Ok(Contents::Value(self.value(expression)?)),
        }
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        local: LocalId,
        range: &Iteration,
        body: ExprId,
    ) -> Result<Test, Unsupported> {
        let junction = match quantifier {
            Quantifier::All => Junction::All,
            Quantifier::Any => Junction::Any,
        };
        match self.range(local, range)? {
            Range::Escape => Ok(Test::Escape),
            Range::Unrolled(values) => {
                let repetitions = self.context.repetitions;
                self.context.repetitions *= values.len() as u64;
                let mut tests = Vec::new();
                for value in values {
                    let test = self.with_binding(local, Binding::Known(value), |inner| inner.test(body))?;
                    if !self.join(junction, &mut tests, test) {
                        break;
                    }
                }
                self.context.repetitions = repetitions;
                Ok(self.joined(junction, &tests))
            }
            Range::AtRunTime(values) => {
                let (range, body) = self.loop_over(local, values, |inner| inner.test_id(body))?;
                Ok(Test::Quantified { all: quantifier == Quantifier::All, range, body })
            }
        }
    }

    /// The values of a loop.
    pub(super) fn range(&mut self, local: LocalId, range: &Iteration) -> Result<Range, Unsupported> {
        let ty = self.scope().locals[local].ty;
        let can_unroll = !self.is_mutated(local) && self.context.weight < WEIGHT_LIMIT;
        let limit = if can_unroll { UNROLLING_LIMIT / self.context.repetitions.min(UNROLLING_LIMIT) } else { 0 };
        match range {
            Iteration::Over(values) => {
                let domain = self.facts[*values].domain.clone().ok_or(Unsupported)?;
                if (1..=limit).contains(&domain.size()) {
                    return Ok(self.unrolled(ty, domain.values().collect()));
                }
                Ok(Range::AtRunTime(LoopValues::Domain(self.domain(*values)?)))
            }
            Iteration::Steps { from, to, step } => {
                let from = self.value(*from)?;
                let to = self.value(*to)?;
                let step = step.map(|step| self.value(step)).transpose()?;
                if let (Value::Constant(from), Value::Constant(to)) = (from, to)
                    && let None | Some(Value::Constant(_)) = step
                {
                    let step = match step {
                        Some(Value::Constant(step)) => step,
                        _ if to < from => -1,
                        _ => 1,
                    };
                    if step == 0 || (from < to && step < 0) || (from > to && step > 0) {
                        return Ok(Range::Escape);
                    }
                    let distance = (i128::from(to) - i128::from(from)).unsigned_abs();
                    let count = if distance == 0 { 1 } else { distance / i128::from(step).unsigned_abs() + 1 };
                    if count <= u128::from(limit) {
                        let values = (0..count as i64).map(|position| from + position * step).collect();
                        return Ok(self.unrolled(ty, values));
                    }
                }
                let from = self.code.values.add(from);
                let to = self.code.values.add(to);
                let step = step.map(|step| self.code.values.add(step));
                Ok(Range::AtRunTime(LoopValues::Steps { from, to, step }))
            }
        }
    }

    fn unrolled(&self, ty: TypeId, values: Vec<i64>) -> Range {
        // A value outside the variable's range is a run-time error in its iteration. This is rare enough to leave the
        // whole loop to the reference interpreter.
        let fits = |value: &i64| self.facts[ty].domain.as_ref().is_some_and(|domain| domain.contains(*value));
        if values.iter().all(fits) { Range::Unrolled(values) } else { Range::Escape }
    }

    /// A loop that the machine runs, and its translated body.
    pub(super) fn loop_over<T>(
        &mut self,
        local: LocalId,
        values: LoopValues,
        body: impl FnOnce(&mut Self) -> Result<T, Unsupported>,
    ) -> Result<(LoopId, T), Unsupported> {
        let ty = self.scope().locals[local].ty;
        let domain: DomainId = self.domain(ty)?;
        let cell = self.allocate(1)?;
        let before = self.context.weight;
        let body = self.with_binding(local, Binding::Cells { first: cell, parameter: false }, body)?;
        let weight = self.weight_since(before);
        Ok((self.code.loops.add(Loop { cell, values, domain, weight }), body))
    }

    /// The work of the code translated since a given point, for the machine to charge.
    pub(super) fn weight_since(&mut self, before: u64) -> u32 {
        self.context.counts_work = true;
        u32::try_from(self.context.weight - before + 1).unwrap_or(u32::MAX)
    }

    /// An integer expression.
    pub(super) fn value(&mut self, expression: ExprId) -> Result<Value, Unsupported> {
        self.nested(|specialiser| specialiser.value_here(expression))
    }

    fn value_here(&mut self, expression: ExprId) -> Result<Value, Unsupported> {
        let model: &'m Model = self.model;
        match &model.pool[expression] {
            Expr::Constant { value, .. } => Ok(Value::Constant(*value)),
            Expr::Read(place) => {
                let contents = self.read(*place)?;
                Ok(self.value_of(contents))
            }
            Expr::Unary { operator: UnaryOperator::Negate, operand } => Ok(match self.value(*operand)? {
                Value::Constant(value) => value.checked_neg().map_or(Value::Escape, Value::Constant),
                operand => Value::Negate(self.code.values.add(operand)),
            }),
            Expr::Unary { operator: UnaryOperator::Complement, operand } => Ok(match self.value(*operand)? {
                Value::Constant(value) => Value::Constant(!value),
                operand => Value::Complement(self.code.values.add(operand)),
            }),
            Expr::Binary { operator, left, right } if operator.is_arithmetic() => {
                let left = self.value(*left)?;
                let right = self.value(*right)?;
                if let (Value::Constant(left), Value::Constant(right)) = (left, right) {
                    return Ok(calculate(*operator, left, right).map_or(Value::Escape, Value::Constant));
                }
                let left = self.code.values.add(left);
                Ok(Value::Binary { operator: *operator, left, right: self.code.values.add(right) })
            }
            Expr::Conditional { condition, then, otherwise } => match self.test(*condition)? {
                Test::Constant(true) => self.value(*then),
                Test::Constant(false) => self.value(*otherwise),
                condition => {
                    let condition = self.code.tests.add(condition);
                    let then = self.value(*then)?;
                    let then = self.code.values.add(then);
                    let otherwise = self.value(*otherwise)?;
                    Ok(Value::Conditional { condition, then, otherwise: self.code.values.add(otherwise) })
                }
            },
            Expr::Count { local, multiset, body } => {
                let location = self.locate(*multiset)?;
                let TypeKind::Multiset { element, .. } = model.types[location.ty].kind else {
                    return Err(Unsupported);
                };
                let stride = self.cells(element)?.checked_add(1).ok_or(Unsupported)?;
                let multiset = self.address_of(location);
                let (capacity, cell, test) = self.position_test(location.ty, *local, *body)?;
                Ok(Value::Count { multiset, capacity, stride, cell, test })
            }
            Expr::Call { function, arguments } => match self.call_for_result(*function, arguments, Self::value)? {
                Called::Unfolded(value) => self.checked_result(*function, value),
                Called::Command(command, cell) => Ok(Value::After { command, cell }),
            },
            Expr::Unary { operator: UnaryOperator::Not, .. }
            | Expr::Binary { .. }
            | Expr::Quantified { .. }
            | Expr::IsUndefined(_)
            | Expr::IsPresent { .. }
            | Expr::IsMember { .. }
            | Expr::SameContents { .. } => Ok(match self.test(expression)? {
                Test::Constant(value) => Value::Constant(i64::from(value)),
                Test::Escape => Value::Escape,
                test => Value::Truth(self.code.tests.add(test)),
            }),
        }
    }

    /// A condition on a position of a multiset: the capacity, the cell of the position, the test.
    pub(super) fn position_test(
        &mut self,
        multiset: TypeId,
        local: LocalId,
        condition: ExprId,
    ) -> Result<(u32, u32, TestId), Unsupported> {
        let TypeKind::Multiset { capacity, .. } = self.model.types[multiset].kind else {
            return Err(Unsupported);
        };
        let capacity = u32::try_from(capacity).map_err(|_| Unsupported)?;
        // Every position must be a value of the bound variable; otherwise its iteration would be a run-time error.
        let ty = self.scope().locals[local].ty;
        let domain = self.facts[ty].domain.as_ref().ok_or(Unsupported)?;
        if !(0..i64::from(capacity)).all(|position| domain.contains(position)) {
            return Err(Unsupported);
        }
        let cell = self.allocate(1)?;
        let binding = Binding::Cells { first: cell, parameter: false };
        let before = self.context.weight;
        let test = self.with_binding(local, binding, |inner| inner.test_id(condition))?;
        self.context.weight += u64::from(self.weight_since(before)) * u64::from(capacity);
        Ok((capacity, cell, test))
    }
}

/// The operator with its operands exchanged.
fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessOrEqual => BinaryOperator::GreaterOrEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterOrEqual => BinaryOperator::LessOrEqual,
        other => other,
    }
}
