//! Expressions that compute with values instead of comparing them, as tables: `(i + 1) % N` is a function of `i`,
//! `i < 3` a condition on it. A permutation may move values that are computed with only if it commutes with the table.

use quotient_ir::walk::{Node, visit_nodes};
use quotient_ir::{BinaryOperator, Domain, Expr, ExprId, Model, Root, UnaryOperator};

/// The most entries of a table.
const MOST_ENTRIES: u64 = 4096;
/// The most values of a function of one value that is known by its runs, and the most runs.
const MOST_IN_RUNS: u64 = 1 << 20;
const MOST_RUNS: usize = 64;
/// The most intervals that are looked at for them.
const MOST_INTERVALS: usize = 1 << 12;

/// Values in a row with the same result: the first, the last, and the result, none if it is a run-time error.
pub(super) type Run = (i64, i64, Option<i64>);

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
                    computing |= *operator != UnaryOperator::Not;
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

    /// The results of a function of one value, if it is constant on few intervals. Found by bisection with bounds of the
    /// results, so the cost is a matter of the runs and not of the values.
    pub(super) fn runs(&self, model: &Model, domain: &Domain) -> Option<Vec<Run>> {
        if self.leaves.len() != 1 || !is_checkable(&[domain]) {
            return None;
        }
        let mut pending: Vec<(i64, i64)> = domain.pieces().iter().rev().copied().collect();
        let mut runs: Vec<Run> = Vec::new();
        let mut looked = 0;
        while let Some((low, high)) = pending.pop() {
            looked += 1;
            let result = match self.bounds(model, self.expression, (low, high)) {
                _ if low == high => self.value(model, &[low]),
                Some((least, most)) if least == most => Some(least),
                _ => {
                    let middle = low + (high - low) / 2;
                    pending.extend([(middle + 1, high), (low, middle)]);
                    continue;
                }
            };
            match runs.last_mut() {
                Some((_, last, known)) if *known == result && *last + 1 == low => *last = high,
                _ => runs.push((low, high, result)),
            }
            if runs.len() > MOST_RUNS || looked > MOST_INTERVALS {
                return None;
            }
        }
        Some(runs)
    }

    /// Bounds of the results for the values of an interval. `None` if it may go wrong, or nothing is known.
    fn bounds(&self, model: &Model, id: ExprId, values: (i64, i64)) -> Option<(i64, i64)> {
        if self.leaves.contains(&id) {
            return Some(values);
        }
        let of = |id: ExprId| self.bounds(model, id, values);
        // Whether both are not 0, or both 0.
        let truth = |(low, high): (i64, i64)| match (low, high) {
            (0, 0) => Some(false),
            _ if low > 0 || high < 0 => Some(true),
            _ => None,
        };
        let is = |holds: Option<bool>| Some(holds.map_or((0, 1), |holds| (i64::from(holds), i64::from(holds))));
        match &model.pool[id] {
            Expr::Constant { value, .. } => Some((*value, *value)),
            Expr::Unary { operator: UnaryOperator::Not, operand } => is(truth(of(*operand)?).map(|holds| !holds)),
            Expr::Binary { operator, left, right } => {
                use BinaryOperator::*;
                let (low, high) = of(*left)?;
                let known = truth((low, high));
                match (operator, known) {
                    (And, Some(false)) => return is(Some(false)),
                    (Or, Some(true)) | (Implies, Some(false)) => return is(Some(true)),
                    _ => {}
                }
                let (least, most) = of(*right)?;
                let before = |is_always: bool, is_never: bool| match (is_always, is_never) {
                    (true, _) => is(Some(true)),
                    (_, true) => is(Some(false)),
                    _ => is(None),
                };
                match operator {
                    And | Or | Implies => is(known.and(truth((least, most)))),
                    Equal => before(low == high && least == most && low == least, high < least || most < low),
                    NotEqual => before(high < least || most < low, low == high && least == most && low == least),
                    Less => before(high < least, low >= most),
                    LessOrEqual => before(high <= least, low > most),
                    Greater => before(low > most, high <= least),
                    GreaterOrEqual => before(low >= most, high < least),
                    Add => Some((low.checked_add(least)?, high.checked_add(most)?)),
                    Subtract => Some((low.checked_sub(most)?, high.checked_sub(least)?)),
                    // Rounding towards zero keeps the order.
                    Divide if least == most && least > 0 => Some((low / least, high / least)),
                    Remainder if least == most && least > 0 && low >= 0 && low / least == high / least => {
                        Some((low % least, high % least))
                    }
                    _ => None,
                }
            }
            Expr::Conditional { condition, then, otherwise } => match truth(of(*condition)?) {
                Some(true) => of(*then),
                Some(false) => of(*otherwise),
                None => None,
            },
            _ => None,
        }
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

/// Whether a function of leaves with these values can be checked value by value: its table is small, or it has one leaf.
pub(super) fn is_checkable(domains: &[&Domain]) -> bool {
    match domains {
        // The size of all numbers is 0.
        [domain] => (1..=MOST_IN_RUNS).contains(&domain.size()),
        _ => is_small(domains.iter().map(|domain| domain.size())),
    }
}

/// Whether a table over so many values is small enough.
pub(super) fn is_small(sizes: impl IntoIterator<Item = u64>) -> bool {
    let entries = sizes.into_iter().fold(1u64, |product, size| match size {
        0 => u64::MAX,
        size => product.saturating_mul(size),
    });
    entries <= MOST_ENTRIES
}

#[cfg(test)]
mod tests {
    use quotient_ir::{Model, Place, Source, TypeId};

    use super::*;

    /// Expressions over one leaf up to a depth, from a few constants.
    fn expressions(model: &mut Model, leaf: ExprId, ty: TypeId) -> Vec<ExprId> {
        use BinaryOperator::*;
        let constant = |model: &mut Model, value: i64| model.pool.expression(Expr::Constant { value, ty });
        let constants: Vec<ExprId> = [-3, 0, 1, 2, 5].into_iter().map(|value| constant(model, value)).collect();
        let operators = [
            And,
            Or,
            Implies,
            Equal,
            NotEqual,
            Less,
            LessOrEqual,
            Greater,
            GreaterOrEqual,
            Add,
            Subtract,
            Multiply,
            Divide,
            Remainder,
            ShiftLeft,
            BitAnd,
        ];
        let mut simple = vec![leaf];
        for operator in operators {
            for &constant in &constants {
                simple.push(model.pool.expression(Expr::Binary { operator, left: leaf, right: constant }));
                simple.push(model.pool.expression(Expr::Binary { operator, left: constant, right: leaf }));
            }
        }
        let mut all = simple.clone();
        for (number, &left) in simple.iter().enumerate() {
            all.push(model.pool.expression(Expr::Unary { operator: UnaryOperator::Not, operand: left }));
            for (other, &right) in simple.iter().enumerate().skip(number % 7).step_by(7) {
                let operator = operators[(number + other) % operators.len()];
                let both = model.pool.expression(Expr::Binary { operator, left, right });
                all.push(both);
                all.push(model.pool.expression(Expr::Conditional { condition: left, then: right, otherwise: both }));
            }
        }
        all
    }

    #[test]
    fn runs_are_what_is_computed() {
        let mut model = Model::new(Source::new("test", ""));
        let ty = Model::INTEGER;
        let variable = model.variables.push(quotient_ir::Variable {
            name: "x".to_owned(),
            ty,
            may_be_undefined: false,
            span: Default::default(),
        });
        let place = model.pool.place(Place { root: Root::Variable(variable), steps: Vec::new(), ty });
        let leaf = model.pool.expression(Expr::Read(place));
        let domain = Domain::union(vec![(-7, 9), (11, 23)]);
        let mut found = 0;
        for expression in expressions(&mut model, leaf, ty) {
            let Some(computation) = Computation::new(&model, expression, 2) else { continue };
            let Some(runs) = computation.runs(&model, &domain) else { continue };
            found += 1;
            let listed: Vec<(i64, Option<i64>)> =
                runs.iter().flat_map(|&(low, high, result)| (low..=high).map(move |value| (value, result))).collect();
            let computed = domain.values().map(|value| (value, computation.value(&model, &[value])));
            assert_eq!(listed, computed.collect::<Vec<_>>());
        }
        assert!(found > 1000);
        let large = Domain::interval(1, 1_000_000);
        let computation = Computation::new(&model, leaf, 2).expect("a leaf");
        assert_eq!(computation.runs(&model, &large), None);
        let all = Domain::interval(i64::MIN, i64::MAX);
        assert_eq!(computation.runs(&model, &all), None);
    }
}
