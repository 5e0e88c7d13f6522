//! The values of a slot or of another cell, and their codes in packed states.

use quotient_ir::Domain;

/// The content of an undefined cell. No value of a model equals it: any model with such a value is left to the
/// reference interpreter.
pub(crate) const UNDEFINED: i64 = i64::MIN;

/// The values of a slot or of another cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SlotDomain {
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// All the values, if they are not an interval from `low` to `high`.
    pieces: Option<Box<Domain>>,
}

impl SlotDomain {
    pub(crate) fn new(domain: &Domain) -> Self {
        let pieces = (domain.pieces().len() > 1).then(|| Box::new(domain.clone()));
        // The least integer is reserved.
        Self { low: domain.least().max(UNDEFINED + 1), high: domain.greatest(), pieces }
    }
    /// Whether the values are an interval from `low` to `high`.
    pub(crate) fn is_interval(&self) -> bool {
        self.pieces.is_none()
    }
    #[inline]
    pub(crate) fn contains(&self, value: i64) -> bool {
        self.low <= value && value <= self.high && self.pieces.as_ref().is_none_or(|pieces| pieces.contains(value))
    }
    #[inline]
    pub(crate) fn code_of(&self, value: i64) -> Option<u64> {
        match &self.pieces {
            None => (self.low <= value && value <= self.high).then(|| value.wrapping_sub(self.low) as u64),
            Some(pieces) => pieces.code_of(value),
        }
    }
    #[inline]
    pub(crate) fn value_of(&self, code: u64) -> i64 {
        match &self.pieces {
            None => self.low.wrapping_add(code as i64),
            Some(pieces) => pieces.value_of(code),
        }
    }
    /// The value after another in increasing order.
    pub(crate) fn after(&self, value: i64) -> Option<i64> {
        match &self.pieces {
            None => (value < self.high).then(|| value + 1),
            Some(pieces) => {
                let &(low, _) = pieces.pieces().iter().find(|&&(_, high)| value < high)?;
                Some(low.max(value + 1))
            }
        }
    }
}
