//! Random numbers that are the same for a seed on every machine and in every version. The generator is SplitMix64
//! (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).

use std::hash::{BuildHasher, RandomState};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Randomness {
    state: u64,
}

impl Randomness {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    /// A number below a bound, uniformly distributed. A bound of zero means 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return self.next();
        }
        // The greatest multiple of the bound: numbers above it would favour small results.
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let number = self.next();
            if number < limit {
                return number % bound;
            }
        }
    }
    /// An index into a non-empty list.
    pub fn position(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("a number below a length is a position")
    }
}

/// A fresh seed. Small, so that it is easy to type.
pub fn fresh_seed() -> u64 {
    RandomState::new().hash_one("seed") % 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_stream() {
        let mut randomness = Randomness::new(1_234_567);
        assert_eq!(randomness.next(), 6_457_827_717_110_365_317);
        assert_eq!(randomness.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn below_a_bound() {
        let mut randomness = Randomness::new(0);
        let mut seen = [0; 5];
        for _ in 0..5000 {
            seen[randomness.position(5)] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
        assert_eq!(randomness.below(1), 0);
    }
}
