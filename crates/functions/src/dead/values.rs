//! Sets of values of a control slot, by their codes.

use quotient_ir::Domain;

/// A set of values of one domain; the code after the last one is "undefined".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    words: Vec<u64>,
    len: usize,
}

impl Values {
    /// The empty set over so many codes.
    pub(super) fn none(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }
    /// All codes.
    pub(super) fn all(len: usize) -> Self {
        let mut values = Self::none(len);
        for code in 0..len {
            values.insert(code);
        }
        values
    }
    pub(super) fn insert(&mut self, code: usize) {
        self.words[code / 64] |= 1 << (code % 64);
    }
    pub(super) fn contains(&self, code: usize) -> bool {
        self.words[code / 64] >> (code % 64) & 1 == 1
    }
    /// Adds another set. Returns whether it had more.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            changed |= more & !*word != 0;
            *word |= more;
        }
        changed
    }
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(one, two)| one & two != 0)
    }
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(one, two)| one & !two == 0)
    }
    pub(super) fn and(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(one, two)| one & two).collect();
        Self { words, len: self.len }
    }
    pub(super) fn or(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(one, two)| one | two).collect();
        Self { words, len: self.len }
    }
    pub(super) fn complement(&self) -> Self {
        let mut values = Self::none(self.len);
        for code in (0..self.len).filter(|&code| !self.contains(code)) {
            values.insert(code);
        }
        values
    }
    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
    pub(super) fn codes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len).filter(|&code| self.contains(code))
    }
}

/// The code of a value or of undefined.
pub(super) fn code_of(domain: &Domain, value: Option<i64>) -> Option<usize> {
    match value {
        Some(value) => domain.code_of(value).and_then(|code| usize::try_from(code).ok()),
        None => usize::try_from(domain.size()).ok(),
    }
}
