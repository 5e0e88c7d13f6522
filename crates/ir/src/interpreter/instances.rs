//! The valuations of parameters, one at a time: a counter whose digits are the cells of the
//! parameters, the last one fastest.

use crate::expression::{Expr, Iteration};
use crate::index::{ExprId, TypeId};
use crate::model::{Model, Parameter};
use crate::types::{Domain, TypeKind};

/// An iterator over all valuations of parameters.
#[derive(Clone, Debug)]
pub(super) struct Instances {
    digits: Vec<Values>,
    next: Option<Vec<i64>>,
}

/// The range of a cell of a parameter, a bound variable or a loop variable.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// All values of a type.
    Domain(Domain),
    /// Some integers.
    Steps(Steps),
}

/// From one integer to another by a step that leads there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) step: i64,
}

impl Steps {
    /// The value after `value`, if it is not beyond the end.
    pub(super) fn after(self, value: i64) -> Option<i64> {
        // With equal ends there is one value, whatever the step.
        let next = value.checked_add(self.step).filter(|_| self.from != self.to)?;
        let within = if self.step > 0 { next <= self.to } else { next >= self.to };
        within.then_some(next)
    }
    fn contains(self, value: i64) -> bool {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        let distance = i128::from(value) - i128::from(self.from);
        low <= value && value <= high && distance % i128::from(self.step) == 0
    }
}

impl Values {
    pub(super) fn first(&self) -> i64 {
        match self {
            Self::Domain(domain) => domain.least(),
            Self::Steps(steps) => steps.from,
        }
    }
    pub(super) fn after(&self, value: i64) -> Option<i64> {
        match self {
            Self::Domain(domain) => {
                let &(low, _) = domain.pieces().iter().find(|&&(_, high)| value < high)?;
                Some(low.max(value + 1))
            }
            Self::Steps(steps) => steps.after(value),
        }
    }
    fn contains(&self, value: i64) -> bool {
        match self {
            Self::Domain(domain) => domain.contains(value),
            Self::Steps(steps) => steps.contains(value),
        }
    }
}

impl Instances {
    pub(super) fn new(model: &Model, parameters: &[Parameter]) -> Self {
        let mut digits = Vec::new();
        for parameter in parameters {
            match &parameter.range {
                Iteration::Over(ty) => push_cells(model, *ty, &mut digits),
                Iteration::Steps { from, to, step } => {
                    let constant = |expression: ExprId| match model.pool[expression] {
                        Expr::Constant { value, .. } => value,
                        _ => unreachable!("verified: the bounds of a parameter are constants"),
                    };
                    let (from, to) = (constant(*from), constant(*to));
                    let step = step.map_or(if to < from { -1 } else { 1 }, constant);
                    digits.push(Values::Steps(Steps { from, to, step }));
                }
            }
        }
        let next = Some(digits.iter().map(Values::first).collect());
        Self { digits, next }
    }

    pub(super) fn contains(&self, arguments: &[i64]) -> bool {
        self.digits.len() == arguments.len()
            && self.digits.iter().zip(arguments).all(|(digit, &argument)| digit.contains(argument))
    }
}

/// The cells of a parameter of any type except a multiset.
fn push_cells(model: &Model, ty: TypeId, digits: &mut Vec<Values>) {
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for _ in model.domain(*index).values() {
                push_cells(model, *element, digits);
            }
        }
        TypeKind::Record { fields } => {
            for field in fields {
                push_cells(model, field.ty, digits);
            }
        }
        TypeKind::Multiset { .. } => unreachable!("verified: no parameter ranges over a multiset"),
        _ => digits.push(Values::Domain(model.domain(ty))),
    }
}

impl Iterator for Instances {
    type Item = Vec<i64>;

    fn next(&mut self) -> Option<Vec<i64>> {
        let current = self.next.take()?;
        let mut following = current.clone();
        for (digit, cell) in self.digits.iter().zip(following.iter_mut()).rev() {
            if let Some(value) = digit.after(*cell) {
                *cell = value;
                self.next = Some(following);
                break;
            }
            *cell = digit.first();
        }
        Some(current)
    }
}
