//! Numbers of objects of each type, and the form of values that all members of a family share.

use std::fmt;
use std::ops::{Add, Index, Sub};

/// The most types of objects.
pub const MOST_SORTS: usize = 2;

/// A number for each type of objects; 0 for those that there are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sizes([usize; MOST_SORTS]);

impl Sizes {
    /// 1 for one type.
    pub(super) fn one(sort: usize) -> Self {
        Self(std::array::from_fn(|own| usize::from(own == sort)))
    }

    /// What a number is for each type.
    pub fn of(number: impl FnMut(usize) -> usize) -> Self {
        Self(std::array::from_fn(number))
    }

    /// The larger number for each type.
    pub(super) fn or(self, other: Self) -> Self {
        Self::of(|sort| self[sort].max(other[sort]))
    }

    /// Whether all numbers are 0.
    pub(super) fn is_zero(self) -> bool {
        self == Self::default()
    }

    /// Whether for some type neither number is 0.
    pub(super) fn meets(self, other: Self) -> bool {
        (0..MOST_SORTS).any(|sort| self[sort] > 0 && other[sort] > 0)
    }

    /// The sum of the numbers.
    pub fn sum(self) -> usize {
        self.0.iter().sum()
    }
}

impl Index<usize> for Sizes {
    type Output = usize;

    fn index(&self, sort: usize) -> &usize {
        &self.0[sort]
    }
}

impl Add for Sizes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::of(|sort| self[sort] + other[sort])
    }
}

impl Sub for Sizes {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::of(|sort| self[sort] - other[sort])
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().filter(|number| **number > 0).map(usize::to_string).collect();
        formatter.write_str(&numbers.join(" and "))
    }
}

/// A value of a cell in a form that all members share.
pub(super) type Value = i64;

/// How many of some objects there are of each type.
pub(super) fn sizes_of(sorts: impl Iterator<Item = usize>) -> Sizes {
    sorts.fold(Sizes::default(), |sizes, sort| sizes + Sizes::one(sort))
}
