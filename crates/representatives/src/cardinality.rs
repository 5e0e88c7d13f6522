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
    pub(crate) const ONE: Self = Self::Small(1);

    /// Multiplies by another number.
    #[inline]
    pub(crate) fn multiply(&mut self, factor: Self) {
        *self = match (&*self, &factor) {
            (Self::Small(one), Self::Small(other)) => match one.checked_mul(*other) {
                Some(product) => Self::Small(product),
                None => Self::Large(BigUint::from(*one) * *other),
            },
            _ => Self::Large(BigUint::from(&*self) * BigUint::from(&factor)),
        };
    }

    /// Multiplies by the number of orders of each run of equal things in a list.
    #[inline]
    pub(crate) fn multiply_orders<T>(&mut self, things: &[T], are_equal: impl Fn(&T, &T) -> bool) {
        let (mut run, mut orders) = (1u64, 1u64);
        for pair in things.windows(2) {
            run = if are_equal(&pair[0], &pair[1]) { run + 1 } else { 1 };
            match orders.checked_mul(run) {
                Some(product) => orders = product,
                None => {
                    self.multiply(Self::Small(orders));
                    orders = run;
                }
            }
        }
        if orders > 1 {
            self.multiply(Self::Small(orders));
        }
    }

    /// The number divided by a divisor of it.
    #[inline]
    pub(crate) fn over(&self, divisor: &Self) -> Self {
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
