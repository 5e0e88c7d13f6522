//! Sets of bits of a packed state, and bits with known contents.

/// One mask per word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BitSet(pub(super) Vec<u64>);

impl BitSet {
    pub(super) fn empty(words: usize) -> Self {
        Self(vec![0; words])
    }
    pub(super) fn add(&mut self, word: u32, mask: u64) {
        self.0[word as usize] |= mask;
    }
    pub(super) fn remove(&mut self, word: u32, mask: u64) {
        self.0[word as usize] &= !mask;
    }
    pub(super) fn add_everything(&mut self) {
        self.0.fill(u64::MAX);
    }
    pub(super) fn contains(&self, word: u32, mask: u64) -> bool {
        self.0[word as usize] & mask == mask
    }
    pub(super) fn meets(&self, word: u32, mask: u64) -> bool {
        self.0[word as usize] & mask != 0
    }
    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(left, right)| left & right == 0)
    }
}

/// Bits with known contents.
#[derive(Clone, Debug)]
pub(super) struct KnownBits {
    pub(super) mask: Vec<u64>,
    pub(super) bits: Vec<u64>,
}

impl KnownBits {
    pub(super) fn nothing(words: usize) -> Self {
        Self { mask: vec![0; words], bits: vec![0; words] }
    }
    pub(super) fn learn(&mut self, word: u32, mask: u64, bits: u64) {
        let word = word as usize;
        self.mask[word] |= mask;
        self.bits[word] = self.bits[word] & !mask | bits & mask;
    }
    pub(super) fn forget(&mut self, word: u32, mask: u64) {
        let word = word as usize;
        self.mask[word] &= !mask;
        self.bits[word] &= !mask;
    }
    pub(super) fn forget_all(&mut self, bits: &BitSet) {
        for (word, &mask) in (0..).zip(&bits.0) {
            self.forget(word, mask);
        }
    }
}
