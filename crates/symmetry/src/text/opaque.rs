//! Expressions that compute with values instead of comparing them, as tables: `(i + 1) % N` is a function of `i`,
//! `i < 3` a condition on it. A permutation may move values that are computed with only if it commutes with the table.

use quotient_ir::walk::{Node, visit_nodes};
use quotient_ir::{BinaryOperator, Expr, ExprId, Model, Root};

/// The most entries of a table.
const MOST_ENTRIES: u64 = 4096;

/// Whether an operator does more with its operands than comparing them for equality.
pub(super) fn computes(operator: BinaryOperator) -> bool {
    use BinaryOperator::{And, Equal, Implies, NotEqual, Or};
    !matches!(operator, And | Or | Implies | Equal | NotEqual)
}

/// What a computation consists of: operators, constants, and at most two other expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Computation {
    pub(super) expression: ExprId,
    /// The expressions it is a function of.
    pub(super) leaves: Vec<ExprId>,
    /// Whether it does more than comparing for equality.
    pub(super) computes: bool,
}

impl Computation {
    /// The operators above other expressions. `None` if these are more than `most` (or the expression is very deep).
    pub(super) fn new(model: &Model, expression: ExprId, most: usize) -> Option<Self> {
        let mut leaves = Vec::new();
        let mut computing = false;
        let mut pending = vec![expression];
        let mut steps = 0;
        while let Some(id) = pending.pop() {
            steps += 1;
            if steps > 256 {
                return None;
            }
            match &model.pool[id] {
                Expr::Constant { .. } => {}
                Expr::Unary { operator, operand } => {
                    computing |= *operator != quotient_ir::UnaryOperator::Not;
                    pending.push(*operand);
                }
                Expr::Binary { operator, left, right } => {
                    computing |= computes(*operator);
                    pending.extend([*left, *right]);
                }
                Expr::Conditional { condition, then, otherwise } => pending.extend([*condition, *then, *otherwise]),
                // A call may have effects, so a second one may give another value.
                _ if leaves.contains(&id) && calls(model, id) => return None,
                _ if leaves.contains(&id) => {}
                _ if leaves.len() == most => return None,
                _ => leaves.push(id),
            }
        }
        Some(Self { expression, leaves, computes: computing })
    }

    /// Whether it adds a constant modulo another: a rotation, if there are as many values.
    pub(super) fn rotates(&self, model: &Model) -> bool {
        let is_leaf = |id: &ExprId| self.leaves[..] == [*id];
        let is_constant = |id: &ExprId| matches!(model.pool[*id], Expr::Constant { .. });
        let mut sum = match &model.pool[self.expression] {
            Expr::Binary { operator: BinaryOperator::Remainder, left, right } if is_constant(right) => *left,
            _ => return false,
        };
        loop {
            match &model.pool[sum] {
                Expr::Binary { operator: BinaryOperator::Add | BinaryOperator::Subtract, left, right }
                    if is_constant(right) =>
                {
                    sum = *left;
                }
                Expr::Binary { operator: BinaryOperator::Add, left, right } if is_constant(left) => sum = *right,
                _ => return is_leaf(&sum),
            }
        }
    }

    /// The value for values of the leaves; `None` is a run-time error.
    pub(super) fn value(&self, model: &Model, values: &[i64]) -> Option<i64> {
        self.evaluate(model, self.expression, values)
    }

    fn evaluate(&self, model: &Model, id: ExprId, values: &[i64]) -> Option<i64> {
        if let Some(position) = self.leaves.iter().position(|leaf| *leaf == id) {
            return Some(values[position]);
        }
        match &model.pool[id] {
            Expr::Constant { value, .. } => Some(*value),
            Expr::Unary { operator, operand } => operator.apply(self.evaluate(model, *operand, values)?),
            Expr::Binary { operator, left, right } => {
                let left = self.evaluate(model, *left, values)?;
                match operator {
                    BinaryOperator::And if left == 0 => return Some(0),
                    BinaryOperator::Or if left != 0 => return Some(1),
                    BinaryOperator::Implies if left == 0 => return Some(1),
                    _ => {}
                }
                operator.apply(left, self.evaluate(model, *right, values)?)
            }
            Expr::Conditional { condition, then, otherwise } => {
                let chosen = if self.evaluate(model, *condition, values)? != 0 { then } else { otherwise };
                self.evaluate(model, *chosen, values)
            }
            _ => unreachable!("every other expression is a leaf"),
        }
    }
}

/// Whether an expression calls a function.
fn calls(model: &Model, expression: ExprId) -> bool {
    let mut found = false;
    visit_nodes(model, [Node::Expression(expression)], |node| {
        found |= match node {
            Node::Expression(id) => matches!(model.pool[id], Expr::Call { .. }),
            Node::Place(id) => matches!(model.pool[id].root, Root::Result { .. }),
        };
    });
    found
}

/// Whether a table over so many values is small enough.
pub(super) fn is_small(sizes: impl IntoIterator<Item = u64>) -> bool {
    let entries = sizes.into_iter().fold(1u64, |product, size| match size {
        0 => u64::MAX,
        size => product.saturating_mul(size),
    });
    entries <= MOST_ENTRIES
}
