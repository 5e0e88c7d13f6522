//! The constants of a claim about every size, and values of them.

use std::fmt;

/// A constant, from a value on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EverySize {
    /// The constant.
    pub constant: String,
    /// Its least value.
    pub from: i64,
}

/// Values of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EveryValue {
    /// One value.
    Is(i64),
    /// All from one on.
    AtLeast(i64),
}

impl EveryValue {
    /// The least of them.
    pub fn least(self) -> i64 {
        let (Self::Is(value) | Self::AtLeast(value)) = self;
        value
    }

    /// Whether a value is one of them.
    pub fn contains(self, value: i64) -> bool {
        match self {
            Self::Is(own) => own == value,
            Self::AtLeast(least) => least <= value,
        }
    }
}

impl fmt::Display for EveryValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(value) => write!(formatter, "= {value}"),
            Self::AtLeast(value) => write!(formatter, "≥ {value}"),
        }
    }
}

/// Whether all constants have one of some values.
pub fn contain(all: &[EveryValue], values: &[i64]) -> bool {
    all.iter().zip(values).all(|(own, &value)| own.contains(value))
}

/// The least sum of the constants.
pub(super) fn least_sum(sizes: &[EverySize]) -> i64 {
    sizes.iter().map(|size| size.from).sum()
}

/// The values with a sum that are not below the least ones, the first constant slowest.
pub(super) fn with_sum(sizes: &[EverySize], sum: i64) -> Vec<Vec<i64>> {
    let mut found: Vec<(Vec<i64>, i64)> = vec![(Vec::new(), sum)];
    for (place, size) in sizes.iter().enumerate() {
        let later = least_sum(&sizes[place + 1..]);
        let is_last = place + 1 == sizes.len();
        let next = |(values, rest): (Vec<i64>, i64)| {
            let first = if is_last { rest.max(size.from) } else { size.from };
            (first..=rest - later).map(move |value| ([&values[..], &[value]].concat(), rest - value))
        };
        found = found.into_iter().flat_map(next).collect();
    }
    found.into_iter().map(|(values, _)| values).collect()
}

#[cfg(test)]
mod tests {
    use super::{EverySize, EveryValue, contain, with_sum};

    fn sizes(from: &[i64]) -> Vec<EverySize> {
        from.iter().map(|&from| EverySize { constant: "N".to_owned(), from }).collect()
    }

    #[test]
    fn all_values_with_a_sum_in_order() {
        assert_eq!(with_sum(&sizes(&[2]), 4), [[4]]);
        assert_eq!(with_sum(&sizes(&[2]), 1), Vec::<Vec<i64>>::new());
        for (first, second, sum) in
            (1..4).flat_map(|one| (1..4).flat_map(move |two| (0..9).map(move |sum| (one, two, sum))))
        {
            let expected = (first..9).flat_map(|one| (second..9).map(move |two| vec![one, two]));
            let expected: Vec<Vec<i64>> = expected.filter(|values| values.iter().sum::<i64>() == sum).collect();
            assert_eq!(with_sum(&sizes(&[first, second]), sum), expected, "from {first} and {second}, sum {sum}");
        }
    }

    #[test]
    fn values_of_several_constants() {
        let all = [EveryValue::Is(2), EveryValue::AtLeast(3)];
        assert!(contain(&all, &[2, 3]) && contain(&all, &[2, 7]));
        assert!(!contain(&all, &[3, 3]) && !contain(&all, &[2, 2]));
    }
}
