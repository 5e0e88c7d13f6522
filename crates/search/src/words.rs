//! The words of packed states: copying them, and their hashes.

/// The binary logarithm of the number of table parts, for all stores of a search together.
pub const PART_BITS: u32 = 6;

/// A hash of a state, which determines its position in the table and its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u64);

impl Hash {
    /// Multiplies and folds word by word, so that each bit of the state affects all bits.
    #[inline]
    pub fn of(state: &[u64]) -> Self {
        let mut hash = 0x243f_6a88_85a3_08d3;
        for &word in state {
            hash = fold(hash ^ word, 0x9e37_79b9_7f4a_7c15);
        }
        Self(fold(hash, 0xd6e8_feb8_6659_fd93))
    }
    /// The hash of a state identified by a key instead of its words.
    #[inline]
    pub fn of_key(key: u64) -> Self {
        Self::of(&[key])
    }
    /// The hash value.
    #[inline]
    pub fn value(self) -> u64 {
        self.0
    }
    /// The hash with a given value.
    #[inline]
    pub fn with_value(value: u64) -> Self {
        Self(value)
    }
    /// Another hash value, nearly independent of this one.
    #[inline]
    pub fn second(self) -> u64 {
        fold(self.0, 0xa076_1d64_78bd_642f)
    }
    /// The bits of a mask, which are nearly independent of position and tag.
    #[inline]
    pub fn low(self, mask: usize) -> usize {
        self.0 as usize & mask
    }
    /// The value stored for a state if only hashes are stored; not zero. The lowest bit is not used for the position in
    /// the table.
    #[inline]
    pub fn key(self) -> u64 {
        self.0 | 1
    }
    /// The part of the table it belongs to, among those of all stores of a search.
    #[inline]
    pub fn part(self) -> usize {
        (self.0 >> (64 - PART_BITS)) as usize
    }
    /// The bits below those that choose the part; they order the entries of a part.
    #[inline]
    pub fn tag(self) -> u32 {
        (self.0 << PART_BITS >> 32) as u32
    }
    /// The store responsible for a state, if there are `2^bits` stores: each has its share of the parts.
    #[inline]
    pub fn shard(self, bits: u32) -> usize {
        debug_assert!(bits <= PART_BITS);
        self.part() >> (PART_BITS - bits)
    }
}

/// Evaluates an expression with `$N` as a constant if a number of words is small, and another one otherwise. For a few
/// words, a call to copy memory costs more than copying them.
macro_rules! with_constant {
    ($words:expr, $N:ident => $small:expr, $large:expr) => {
        with_constant!(@ $words, $N, $small, $large, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    (@ $words:expr, $N:ident, $small:expr, $large:expr, $($number:literal)*) => {
        match $words {
            $($number => { const $N: usize = $number; $small })*
            _ => $large,
        }
    };
}

/// Appends a state.
#[inline]
pub fn append(target: &mut Vec<u64>, state: &[u64]) {
    with_constant!(state.len(), N => target.extend_from_slice(&state[..N]), target.extend_from_slice(state));
}

/// Copies the words of a state.
#[inline]
pub fn copy(target: &mut [u64], state: &[u64]) {
    assert!(target.len() == state.len());
    with_constant!(
        state.len(),
        N => target[..N].copy_from_slice(&state[..N]),
        target.copy_from_slice(state)
    );
}

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ ((product >> 64) as u64)
}
