//! What conditions and indices say about the values of the cells they read.

use quotient_ir::walk::{Node, visit_nodes};
use quotient_ir::{BinaryOperator, Domain, Expr, ExprId, Root, Step, TypeKind, UnaryOperator};

use super::numbers::{Numbers, mirrored};
use super::{Abstract, Analysis, Holds, LISTED_PER_WORK, Location};

impl Analysis<'_> {
    /// Narrows cells to those where a condition has a given outcome. Returns false if it cannot have it.
    pub(super) fn assume(&mut self, condition: ExprId, outcome: bool) -> Abstract<bool> {
        if self.has_effects(condition) {
            // Must be evaluated exactly once.
            return Ok(self.scalar(condition)?.numbers.contains(i64::from(outcome)));
        }
        if !self.narrow_indices(condition)? {
            return Ok(false);
        }
        match &self.model.pool[condition] {
            Expr::Unary { operator: UnaryOperator::Not, operand } => return self.assume(*operand, !outcome),
            Expr::Binary { operator, left, right }
                if (*operator == BinaryOperator::And && outcome) || (*operator == BinaryOperator::Or && !outcome) =>
            {
                return Ok(self.assume(*left, outcome)? && self.assume(*right, outcome)?);
            }
            Expr::Binary { operator: BinaryOperator::Implies, left, right } if !outcome => {
                return Ok(self.assume(*left, true)? && self.assume(*right, false)?);
            }
            // The second operand, if it is reached, may index with what the first one narrows: `i == 0 | a[i - 1]`.
            Expr::Binary { operator: BinaryOperator::Or, left, right } if outcome && self.indexes(*right) => {
                let mut ends = None;
                let before = self.memory()?;
                if self.assume(*left, true)? {
                    self.join(&mut ends);
                }
                (self.overlay, self.locals) = before;
                if self.assume(*left, false)? && self.assume(*right, true)? {
                    self.join(&mut ends);
                }
                return Ok(self.resume(ends));
            }
            Expr::Read(place) => {
                let targets = self.targets(*place)?;
                return Ok(self.narrow(&targets, |value| (value != 0) == outcome));
            }
            Expr::IsUndefined(place) => {
                let targets = self.targets(*place)?;
                if let [only] = targets[..] {
                    let holds = self.load(only);
                    let narrowed = if outcome {
                        Holds { undefined: holds.undefined, numbers: Numbers::none() }
                    } else {
                        Holds { undefined: false, numbers: holds.numbers }
                    };
                    let feasible = narrowed.undefined || !narrowed.numbers.is_empty();
                    self.set(only, narrowed);
                    return Ok(feasible);
                }
            }
            // A connective may not reach its second operand.
            Expr::Binary { operator, left, right } if operator.is_comparison() => {
                for (place, other, operator) in [(left, right, Some(*operator)), (right, left, mirrored(*operator))] {
                    let (Expr::Read(place), Some(operator)) = (&self.model.pool[*place], operator) else { continue };
                    let other = self.scalar(*other)?;
                    let Some((low, high)) = other.numbers.bounds() else { return Ok(false) };
                    let targets = self.targets(*place)?;
                    let keep = |value: i64| match (operator, outcome) {
                        (BinaryOperator::Equal, true) | (BinaryOperator::NotEqual, false) => {
                            other.numbers.contains(value)
                        }
                        (BinaryOperator::Equal, false) | (BinaryOperator::NotEqual, true) => {
                            low != high || value != low
                        }
                        (BinaryOperator::Less, true) | (BinaryOperator::GreaterOrEqual, false) => value < high,
                        (BinaryOperator::LessOrEqual, true) | (BinaryOperator::Greater, false) => value <= high,
                        (BinaryOperator::Greater, true) | (BinaryOperator::LessOrEqual, false) => value > low,
                        (BinaryOperator::GreaterOrEqual, true) | (BinaryOperator::Less, false) => value >= low,
                        _ => true,
                    };
                    if !self.narrow(&targets, keep) {
                        return Ok(false);
                    }
                }
            }
            _ => {}
        }
        Ok(self.scalar(condition)?.numbers.contains(i64::from(outcome)))
    }

    /// Whether an expression reads an element of an array at a position that is not constant.
    fn indexes(&self, expression: ExprId) -> bool {
        let mut found = false;
        visit_nodes(self.model, [Node::Expression(expression)], |node| {
            if let Node::Place(place) = node {
                found |= self.model.pool[place].steps.iter().any(|step| match step {
                    &Step::Index(index) => !matches!(self.model.pool[index], Expr::Constant { .. }),
                    Step::Field(_) => false,
                });
            }
        });
        found
    }

    /// Narrows what indices read to what they may be: an index out of range ends the step. Only those that are
    /// evaluated in any case, in an expression without effects. Returns false if no index is possible.
    fn narrow_indices(&mut self, expression: ExprId) -> Abstract<bool> {
        let mut pending = vec![expression];
        while let Some(expression) = pending.pop() {
            self.charge(1)?;
            match &self.model.pool[expression] {
                &Expr::Unary { operand, .. } | &Expr::IsMember { value: operand, .. } => pending.push(operand),
                &Expr::Binary {
                    operator: BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies,
                    left,
                    ..
                } => {
                    pending.push(left);
                }
                &Expr::Binary { left, right, .. } => pending.extend([left, right]),
                &Expr::Conditional { condition, .. } => pending.push(condition),
                &Expr::Read(place) | &Expr::IsUndefined(place) => {
                    let place = &self.model.pool[place];
                    let mut ty = match place.root {
                        Root::Variable(variable) => self.model.variables[variable].ty,
                        Root::Local(local) => self.frame().locals[local].ty,
                        Root::Result { .. } | Root::Choice { .. } => continue,
                    };
                    for step in &place.steps {
                        match (step, &self.model.types[ty].kind) {
                            (&Step::Index(index), &TypeKind::Array { index: index_type, element }) => {
                                pending.push(index);
                                if !self.narrow_index(index, &self.model.domain(index_type))? {
                                    return Ok(false);
                                }
                                ty = element;
                            }
                            (&Step::Index(index), &TypeKind::Multiset { element, .. }) => {
                                pending.push(index);
                                ty = element;
                            }
                            (Step::Field(field), TypeKind::Record { fields }) => ty = fields[*field as usize].ty,
                            _ => unreachable!("verified: a step fits the type it starts from"),
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(true)
    }

    /// Narrows what an index reads, if it is a variable or a variable and a constant. Returns false if it is never in
    /// range.
    fn narrow_index(&mut self, index: ExprId, domain: &Domain) -> Abstract<bool> {
        let (read, offset) = match &self.model.pool[index] {
            &Expr::Binary { operator, left, right } => {
                match (operator, &self.model.pool[left], &self.model.pool[right]) {
                    (BinaryOperator::Add, _, &Expr::Constant { value, .. }) => (left, Some(value)),
                    (BinaryOperator::Add, &Expr::Constant { value, .. }, _) => (right, Some(value)),
                    (BinaryOperator::Subtract, _, &Expr::Constant { value, .. }) => (left, value.checked_neg()),
                    _ => return Ok(true),
                }
            }
            _ => (index, Some(0)),
        };
        let (&Expr::Read(place), Some(offset)) = (&self.model.pool[read], offset) else { return Ok(true) };
        let targets = self.targets(place)?;
        Ok(self.narrow(&targets, |value| value.checked_add(offset).is_some_and(|index| domain.contains(index))))
    }

    fn narrow(&mut self, targets: &[Location], keep: impl Fn(i64) -> bool) -> bool {
        if let [only] = *targets {
            let holds = self.load(only);
            self.work += holds.numbers.size() / LISTED_PER_WORK;
            let numbers = holds.numbers.filter(keep);
            let feasible = !numbers.is_empty();
            self.set(only, Holds { undefined: false, numbers });
            return feasible;
        }
        let holds = self.load_any(targets);
        !holds.numbers.filter(keep).is_empty()
    }
}
