//! Sizes of orbits and stabilisers: positive numbers of any size that usually fit a word.

use num_bigint::BigUint;

/// A positive number. It is large only if it does not fit a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// It fits a word.
    Small(u64),
    /// It does not.
    Large(BigUint),
}

impl Cardinality {
    pub(super) const ONE: Self = Self::Small(1);

    /// Multiplies by another number.
    #[inline]
    pub(super) fn multiply(&mut self, factor: Self) {
        *self = match (&*self, &factor) {
            (Self::Small(one), Self::Small(other)) => match one.checked_mul(*other) {
                Some(product) => Self::Small(product),
                None => Self::Large(BigUint::from(*one) * *other),
            },
            _ => Self::Large(BigUint::from(&*self) * BigUint::from(&factor)),
        };
    }

    /// The number divided by a divisor of it.
    #[inline]
    pub(super) fn over(&self, divisor: &Self) -> Self {
        match (self, divisor) {
            (Self::Small(one), Self::Small(other)) => Self::Small(one / other),
            _ => Self::from(BigUint::from(self) / BigUint::from(divisor)),
        }
    }
}

impl From<BigUint> for Cardinality {
    fn from(number: BigUint) -> Self {
        u64::try_from(&number).map_or(Self::Large(number), Self::Small)
    }
}

impl From<&Cardinality> for BigUint {
    fn from(size: &Cardinality) -> Self {
        match size {
            Cardinality::Small(number) => Self::from(*number),
            Cardinality::Large(number) => number.clone(),
        }
    }
}

impl From<Cardinality> for BigUint {
    fn from(size: Cardinality) -> Self {
        match size {
            Cardinality::Small(number) => Self::from(number),
            Cardinality::Large(number) => number,
        }
    }
}

impl std::ops::AddAssign<Cardinality> for BigUint {
    fn add_assign(&mut self, size: Cardinality) {
        match size {
            Cardinality::Small(number) => *self += number,
            Cardinality::Large(number) => *self += number,
        }
    }
}
