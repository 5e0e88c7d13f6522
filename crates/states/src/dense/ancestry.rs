//! The parents of all states of a breadth-first search in two bits for each.
//!
//! States are numbered in the order in which they are found. Each expanded state in this order finds some new ones: so
//! many ones, and a zero, say how many. The parent of a state is then the number of zeros before its one.

use crate::numbers::StateNumber;

/// Words of a chunk.
const CHUNK: usize = 1 << 12;

/// The parents of states, in the order of the states.
#[derive(Debug, Default)]
pub struct Ancestry {
    chunks: Vec<Chunk>,
    /// The number of bits: a one for each state, and a zero before the states that each expanded state found.
    bits: u64,
    states: u64,
}

#[derive(Debug)]
struct Chunk {
    bits: Vec<u64>,
    /// The number of states before.
    states: u64,
}

impl Ancestry {
    /// Adds the next state with its parent; none if a start led to it. No parent may come before that of an earlier
    /// state.
    #[inline]
    pub fn push(&mut self, parent: Option<StateNumber>) {
        let zeros = parent.map_or(0, |parent| u64::from(parent) + 1);
        debug_assert!(self.bits - self.states <= zeros, "states are found in the order of their parents");
        let bit = self.states + zeros;
        let word = (bit / 64) as usize;
        while self.chunks.len() <= word / CHUNK {
            self.chunks.push(Chunk { bits: vec![0; CHUNK], states: self.states });
        }
        self.chunks[word / CHUNK].bits[word % CHUNK] |= 1 << (bit % 64);
        self.bits = bit + 1;
        self.states += 1;
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        8 * (CHUNK * self.chunks.len()) as u64
    }

    /// The parent of a state; none if a start led to it.
    #[inline]
    pub fn parent(&self, number: StateNumber) -> Option<StateNumber> {
        let number = u64::from(number);
        debug_assert!(number < self.states);
        let at = self.chunks.partition_point(|chunk| chunk.states <= number) - 1;
        let mut before = self.chunks[at].states;
        for (word, &bits) in ((at * CHUNK) as u64..).zip(&self.chunks[at].bits) {
            let ones = u64::from(bits.count_ones());
            if number < before + ones {
                let mut rest = bits;
                for _ in before..number {
                    rest &= rest - 1;
                }
                let zeros = 64 * word + u64::from(rest.trailing_zeros()) - number;
                return zeros.checked_sub(1).map(|parent| parent as StateNumber);
            }
            before += ones;
        }
        unreachable!("the next chunk has a state that is not before this one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_what_they_were() {
        let mut ancestry = Ancestry::default();
        let mut parents: Vec<Option<StateNumber>> = vec![None, None, None];
        let mut expanded = 0u32;
        while parents.len() < 700_000 {
            // Some states find nothing, some very many.
            let found = match expanded % 1000 {
                0 => 2500,
                number if number < 400 => 0,
                _ => 2,
            };
            // Long after the starts, and for a while, nothing new is found at all.
            let parent = if expanded > 5000 { expanded + 40_000 } else { expanded };
            parents.extend(std::iter::repeat_n(Some(parent), found));
            expanded += 1;
        }
        parents.iter().for_each(|&parent| ancestry.push(parent));
        assert_eq!(ancestry.states, parents.len() as u64);
        for (number, &parent) in (0..).zip(&parents) {
            assert_eq!(ancestry.parent(number), parent);
        }
        assert!(ancestry.bytes() < 350_000);
    }
}
