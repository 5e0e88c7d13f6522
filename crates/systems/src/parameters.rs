//! The valuations of parameters, one at a time and without allocation: a counter whose digits are
//! the cells of the parameters, the last one fastest.

use quotient_ir::{Expr, Iteration, Model, Parameter, TypeId, TypeKind};

use crate::slot_domain::SlotDomain;

/// The ranges of the parameters of an owner.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    digits: Vec<Digit>,
}

#[derive(Clone, Debug)]
enum Digit {
    Domain(SlotDomain),
    Steps { from: i64, to: i64, step: i64 },
}

impl Digit {
    fn first(&self) -> i64 {
        match self {
            Self::Domain(domain) => domain.low,
            Self::Steps { from, .. } => *from,
        }
    }
    fn after(&self, value: i64) -> Option<i64> {
        match *self {
            Self::Domain(ref domain) => domain.after(value),
            Self::Steps { from, to, step } => {
                let next = value.checked_add(step).filter(|_| from != to)?;
                (if step > 0 { next <= to } else { next >= to }).then_some(next)
            }
        }
    }
}

impl Parameters {
    /// The parameters of an owner, unless their bounds are not literals or they have very many cells.
    pub(crate) fn new(model: &Model, parameters: &[Parameter]) -> Option<Self> {
        let mut digits = Vec::new();
        for parameter in parameters {
            match &parameter.range {
                Iteration::Over(ty) => push_cells(model, *ty, &mut digits)?,
                Iteration::Steps { from, to, step } => {
                    let literal = |expression| match model.pool[expression] {
                        Expr::Constant { value, .. } => Some(value),
                        _ => None,
                    };
                    let (from, to) = (literal(*from)?, literal(*to)?);
                    let step = match step {
                        Some(step) => literal(*step)?,
                        None if to < from => -1,
                        None => 1,
                    };
                    digits.push(Digit::Steps { from, to, step });
                }
            }
        }
        Some(Self { digits })
    }

    /// The values of each cell, in the order in which they are enumerated, if that is increasing and there are not too
    /// many cells or values.
    pub(crate) fn values(&self, cells: usize, values: usize) -> Option<Vec<Vec<i64>>> {
        let of_digit = |digit: &Digit| {
            let all = std::iter::successors(Some(digit.first()), |&value| digit.after(value));
            let all: Vec<i64> = all.take(values + 1).collect();
            (all.len() <= values && all.is_sorted()).then_some(all)
        };
        (self.digits.len() <= cells).then(|| self.digits.iter().map(of_digit).collect()).flatten()
    }

    /// Sets cells to the first valuation.
    pub(crate) fn first(&self, cells: &mut Vec<i64>) {
        cells.clear();
        cells.extend(self.digits.iter().map(Digit::first));
    }

    /// Advances to the next valuation; false if there is none.
    pub(crate) fn advance(&self, cells: &mut [i64]) -> bool {
        for (digit, cell) in self.digits.iter().zip(cells).rev() {
            match digit.after(*cell) {
                Some(value) => {
                    *cell = value;
                    return true;
                }
                None => *cell = digit.first(),
            }
        }
        false
    }
}

fn push_cells(model: &Model, ty: TypeId, digits: &mut Vec<Digit>) -> Option<()> {
    const CELL_LIMIT: usize = 1 << 16;
    match &model.types[ty].kind {
        TypeKind::Array { index, element } => {
            for _ in 0..model.domain(*index).size() {
                push_cells(model, *element, digits)?;
            }
        }
        TypeKind::Record { fields } => {
            for field in fields {
                push_cells(model, field.ty, digits)?;
            }
        }
        TypeKind::Multiset { .. } => return None,
        _ => digits.push(Digit::Domain(SlotDomain::new(&model.domain(ty)))),
    }
    (digits.len() <= CELL_LIMIT).then_some(())
}
