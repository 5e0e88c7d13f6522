//! Sets of numbers, and operators on them.

use std::rc::Rc;

use quotient_ir::{BinaryOperator, Domain};

use crate::circuit::CASE_LIMIT;
use crate::intervals;

/// A set of numbers: listed if there are few, otherwise an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    Listed(Rc<[i64]>),
    Between(i64, i64),
}

impl Numbers {
    pub(super) fn none() -> Self {
        Self::Listed(Rc::new([]))
    }
    pub(super) fn one(value: i64) -> Self {
        Self::Listed(Rc::new([value]))
    }
    pub(super) fn of(mut values: Vec<i64>) -> Self {
        values.sort_unstable();
        values.dedup();
        if values.len() > CASE_LIMIT {
            return Self::Between(values[0], values[values.len() - 1]);
        }
        Self::Listed(values.into())
    }
    /// The same, with all numbers between them unless they are evenly spaced.
    pub(super) fn evenly_spaced(self) -> Self {
        let Self::Listed(values) = &self else { return self };
        let (Some(&least), Some(&greatest)) = (values.first(), values.last()) else { return self };
        let distance = |pair: &[i64]| i128::from(pair[1]) - i128::from(pair[0]);
        let is_even = values.windows(2).all(|pair| distance(pair) == distance(values));
        if is_even { self } else { Self::of_domain(&Domain::interval(least, greatest)) }
    }
    pub(super) fn of_domain(domain: &Domain) -> Self {
        if domain.size() == 0 || domain.size() > CASE_LIMIT as u64 {
            Self::Between(domain.least(), domain.greatest())
        } else {
            Self::Listed(domain.values().collect())
        }
    }
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Listed(values) if values.is_empty())
    }
    pub(super) fn bounds(&self) -> Option<(i64, i64)> {
        match self {
            Self::Listed(values) => Some((*values.first()?, *values.last()?)),
            &Self::Between(low, high) => Some((low, high)),
        }
    }
    pub(super) fn union(&self, other: &Self) -> Self {
        match (self, other) {
            _ if self == other || other.is_empty() => self.clone(),
            _ if self.is_empty() => other.clone(),
            (Self::Listed(a), Self::Listed(b)) => {
                if b.iter().all(|value| a.binary_search(value).is_ok()) {
                    return self.clone();
                }
                Self::of(a.iter().chain(b.iter()).copied().collect())
            }
            _ => {
                let ((a, b), (c, d)) = (self.bounds().expect("not empty"), other.bounds().expect("not empty"));
                Self::Between(a.min(c), b.max(d))
            }
        }
    }
    pub(super) fn filter(&self, keep: impl Fn(i64) -> bool) -> Self {
        match self {
            Self::Listed(values) if values.iter().all(|&value| keep(value)) => self.clone(),
            Self::Listed(values) => Self::Listed(values.iter().copied().filter(|&value| keep(value)).collect()),
            Self::Between(..) => self.clone(),
        }
    }
    pub(super) fn within(&self, domain: &Domain) -> Self {
        match self {
            Self::Listed(_) => self.filter(|value| domain.contains(value)),
            &Self::Between(low, high) => {
                let (low, high) = (low.max(domain.least()), high.min(domain.greatest()));
                if low > high {
                    Self::none()
                } else if high.abs_diff(low) < CASE_LIMIT as u64 {
                    Self::Listed((low..=high).filter(|&value| domain.contains(value)).collect())
                } else {
                    Self::Between(low, high)
                }
            }
        }
    }
    pub(super) fn contains(&self, value: i64) -> bool {
        match self {
            Self::Listed(values) => values.binary_search(&value).is_ok(),
            &Self::Between(low, high) => low <= value && value <= high,
        }
    }
    /// The number of values an operation has to process.
    pub(super) fn size(&self) -> u64 {
        self.listed().map_or(1, |numbers| numbers.len() as u64)
    }
    /// All numbers, if they are listed.
    pub(super) fn listed(&self) -> Option<&[i64]> {
        match self {
            Self::Listed(values) => Some(values),
            Self::Between(..) => None,
        }
    }
}

/// The operator with its operands exchanged, if there is one.
pub(super) fn mirrored(operator: BinaryOperator) -> Option<BinaryOperator> {
    Some(match operator {
        BinaryOperator::Equal | BinaryOperator::NotEqual => operator,
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessOrEqual => BinaryOperator::GreaterOrEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterOrEqual => BinaryOperator::LessOrEqual,
        _ => return None,
    })
}

/// The results of an operator on any number of one set and any of another.
pub(super) fn binary(operator: BinaryOperator, left: &Numbers, right: &Numbers) -> Numbers {
    use BinaryOperator as Operator;
    let (Some((a, b)), Some((c, d))) = (left.bounds(), right.bounds()) else { return Numbers::none() };
    let truth = |always: bool, never: bool| match (always, never) {
        (true, _) => Numbers::one(1),
        (_, true) => Numbers::one(0),
        _ => Numbers::Listed(Rc::new([0, 1])),
    };
    let disjoint = || match (left.listed(), right.listed()) {
        (Some(first), Some(_)) => !first.iter().any(|&value| right.contains(value)),
        _ => b < c || d < a,
    };
    match operator {
        Operator::Equal => return truth(a == b && c == d && a == c, disjoint()),
        Operator::NotEqual => return truth(disjoint(), a == b && c == d && a == c),
        Operator::Less => return truth(b < c, a >= d),
        Operator::LessOrEqual => return truth(b <= c, a > d),
        Operator::Greater => return truth(a > d, b <= c),
        Operator::GreaterOrEqual => return truth(a >= d, b < c),
        _ => {}
    }
    let function = |x: i64, y: i64| match operator {
        Operator::Add => x.checked_add(y),
        Operator::Subtract => x.checked_sub(y),
        Operator::Multiply => x.checked_mul(y),
        Operator::Divide => x.checked_div(y),
        Operator::Remainder => x.checked_rem(y),
        Operator::BitAnd => Some(x & y),
        Operator::BitOr => Some(x | y),
        Operator::BitXor => Some(x ^ y),
        _ => None,
    };
    match (left.listed(), right.listed()) {
        (Some(first), Some(second))
            if first.len() * second.len() <= CASE_LIMIT
                && !matches!(operator, Operator::ShiftLeft | Operator::ShiftRight) =>
        {
            Numbers::of(first.iter().flat_map(|&x| second.iter().filter_map(move |&y| function(x, y))).collect())
        }
        _ => {
            let (low, high) = intervals::arithmetic(operator, (a, b), (c, d));
            Numbers::Between(low, high)
        }
    }
}
