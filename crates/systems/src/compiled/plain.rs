//! What can be computed without a branch: tests and values that always evaluate, their cost, and the ranges of values.

use quotient_ir::BinaryOperator;

use super::bits::BitSet;
use super::effects::ones;
use crate::evaluator::code::{Address, Code, Test, TestId, Value, ValueId};

/// Queries about nodes, given the fields that are known to have values.
#[derive(Clone, Copy)]
pub(super) struct Plain<'a> {
    pub(super) code: &'a Code,
    pub(super) assured: &'a BitSet,
}

/// Costs are counted only up to this limit.
const COST_LIMIT: u32 = 1000;

impl Plain<'_> {
    /// Whether a field certainly has a value.
    pub(super) fn has_value(self, word: u32, mask: u64, partial: bool) -> bool {
        !partial || self.assured.contains(word, mask)
    }

    /// The approximate number of instructions of a test without a branch; `None` if it needs one.
    pub(super) fn test_cost(self, id: TestId) -> Option<u32> {
        self.test_node_cost(&self.code.tests[id])
    }

    pub(super) fn test_node_cost(self, test: &Test) -> Option<u32> {
        let cost = match *test {
            Test::Constant(_) => 0,
            Test::FieldIs { word, partial, mask, .. } | Test::FieldIsNot { word, partial, mask, .. } => {
                self.has_value(word, mask, partial).then_some(3)?
            }
            Test::FieldIn { word, shift, mask, partial, .. } => {
                self.has_value(word, u64::from(mask) << shift, partial).then_some(5)?
            }
            Test::Compare { operator, left, right } => {
                operator.is_comparison().then_some(())?;
                2 + self.value_cost(left)? + self.value_cost(right)?
            }
            Test::Nonzero(value) => 2 + self.value_cost(value)?,
            Test::Not(test) => 1 + self.test_cost(test)?,
            Test::AllOf(list) | Test::AnyOf(list) => {
                let mut sum = 0;
                for &test in self.code.test_lists.get(list) {
                    sum += 1 + self.test_cost(test)?;
                    if sum > COST_LIMIT {
                        return None;
                    }
                }
                sum
            }
            Test::Conditional { condition, then, otherwise } => {
                2 + self.test_cost(condition)? + self.test_cost(then)? + self.test_cost(otherwise)?
            }
            Test::Undefined(address) => match self.code.addresses[address] {
                Address::Slot(_) => 3,
                _ => return None,
            },
            Test::Member { value, domain } if self.code.domains[domain].is_interval() => 4 + self.value_cost(value)?,
            _ => return None,
        };
        (cost <= COST_LIMIT).then_some(cost)
    }

    pub(super) fn value_cost(self, id: ValueId) -> Option<u32> {
        let cost = match self.code.values[id] {
            Value::Constant(_) => 0,
            Value::Field { word, shift, width, partial, .. } => {
                self.has_value(word, ones(width) << shift, partial).then_some(3)?
            }
            Value::Complement(value) => 1 + self.value_cost(value)?,
            Value::Binary { operator, left, right } => {
                let fits = match operator {
                    BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply => {
                        self.range(id).is_some()
                    }
                    BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor => true,
                    _ => operator.is_comparison(),
                };
                fits.then_some(())?;
                2 + self.value_cost(left)? + self.value_cost(right)?
            }
            Value::Truth(test) => 1 + self.test_cost(test)?,
            Value::Conditional { condition, then, otherwise } => {
                2 + self.test_cost(condition)? + self.value_cost(then)? + self.value_cost(otherwise)?
            }
            _ => return None,
        };
        (cost <= COST_LIMIT).then_some(cost)
    }

    /// The least and greatest value of an expression, if known.
    pub(super) fn range(self, id: ValueId) -> Option<(i64, i64)> {
        self.range_within(id, 0)
    }

    fn range_within(self, id: ValueId, depth: u32) -> Option<(i64, i64)> {
        if depth > 40 {
            return None;
        }
        match self.code.values[id] {
            Value::Constant(value) => Some((value, value)),
            Value::Field { width, partial, offset, .. } if width < 63 => {
                Some((offset.checked_add(i64::from(partial))?, offset.checked_add(ones(width) as i64)?))
            }
            Value::Truth(_) => Some((0, 1)),
            Value::Checked { domain, .. } => {
                let domain = &self.code.domains[domain];
                Some((domain.low, domain.high))
            }
            Value::Conditional { then, otherwise, .. } => {
                let (low, high) = self.range_within(then, depth + 1)?;
                let (other_low, other_high) = self.range_within(otherwise, depth + 1)?;
                Some((low.min(other_low), high.max(other_high)))
            }
            Value::Binary { operator, left, right } => {
                if operator.is_comparison() {
                    return Some((0, 1));
                }
                let (left_low, left_high) = self.range_within(left, depth + 1)?;
                let (right_low, right_high) = self.range_within(right, depth + 1)?;
                match operator {
                    BinaryOperator::Add => Some((left_low.checked_add(right_low)?, left_high.checked_add(right_high)?)),
                    BinaryOperator::Subtract => {
                        Some((left_low.checked_sub(right_high)?, left_high.checked_sub(right_low)?))
                    }
                    BinaryOperator::Multiply => {
                        let mut corners = [0; 4];
                        let pairs = [
                            (left_low, right_low),
                            (left_low, right_high),
                            (left_high, right_low),
                            (left_high, right_high),
                        ];
                        for (corner, (left, right)) in corners.iter_mut().zip(pairs) {
                            *corner = left.checked_mul(right)?;
                        }
                        Some((*corners.iter().min()?, *corners.iter().max()?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
