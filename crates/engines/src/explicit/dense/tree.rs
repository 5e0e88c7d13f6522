//! States of many words as pairs of numbers of parts, which are pairs of numbers of smaller parts, and so on (the trees
//! of LTSmin). States that differ in few words have most of their parts in common, and each part is kept once.

use crate::explicit::store::Full;

/// The number of a part that is not known.
const UNKNOWN: u32 = u32::MAX;
/// The greatest number of parts at one place of a tree.
const MOST: usize = 1 << 31;

/// The parts of states of a number of words.
#[derive(Debug)]
pub(super) struct Tree {
    words: usize,
    /// Pairs of words.
    leaves: Vec<Parts<[u64; 2]>>,
    /// Pairs of numbers of parts, and which parts these are: first the leaves, then those here, in order.
    inner: Vec<(Parts<u64>, [usize; 2])>,
    /// The two parts of a whole state.
    root: [usize; 2],
    /// The numbers of the parts of the state added last.
    added: Vec<u32>,
}

/// The numbers of the parts of one state.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    numbers: Vec<u32>,
    /// The state.
    words: Vec<u64>,
}

impl Tree {
    /// For states of at least three words.
    pub(super) fn new(words: usize) -> Self {
        let leaves = words.div_ceil(2);
        let mut inner = Vec::new();
        let mut row: Vec<usize> = (0..leaves).collect();
        while row.len() > 2 {
            let mut above = Vec::new();
            for pair in row.chunks(2) {
                if let &[left, right] = pair {
                    above.push(leaves + inner.len());
                    inner.push((Parts::default(), [left, right]));
                } else {
                    above.push(pair[0]);
                }
            }
            row = above;
        }
        let root = [row[0], row[1]];
        Self { words, leaves: (0..leaves).map(|_| Parts::default()).collect(), inner, root, added: Vec::new() }
    }

    pub(super) fn bytes(&self) -> u64 {
        let leaves: u64 = self.leaves.iter().map(Parts::bytes).sum();
        leaves + self.inner.iter().map(|(parts, _)| parts.bytes()).sum::<u64>()
    }

    /// The numbers of the two parts of a state, if they are known. What `memory` has from the state before is not looked
    /// up again where the two are the same.
    #[inline]
    pub(super) fn find(&self, state: &[u64], memory: &mut Numbers) -> Option<[u32; 2]> {
        let is_first = memory.words.len() != self.words;
        if is_first {
            memory.words.clear();
            memory.words.resize(self.words, 0);
            memory.numbers.clear();
            memory.numbers.resize(self.leaves.len() + self.inner.len(), UNKNOWN);
        }
        let Numbers { numbers, words } = memory;
        // Bit by bit, the parts that are other than before.
        let mut changed = 0u64;
        for (leaf, parts) in self.leaves.iter().enumerate() {
            let pair = pair_of(state, leaf);
            if is_first || pair != pair_of(words, leaf) {
                numbers[leaf] = parts.find(pair);
                changed |= 1 << (leaf % 64);
            }
        }
        words.copy_from_slice(&state[..self.words]);
        for (number, (parts, [left, right])) in (self.leaves.len()..).zip(&self.inner) {
            if changed >> (left % 64) & 1 == 1 || changed >> (right % 64) & 1 == 1 {
                let (left, right) = (numbers[*left], numbers[*right]);
                numbers[number] = match left == UNKNOWN || right == UNKNOWN {
                    true => UNKNOWN,
                    false => parts.find(u64::from(left) << 32 | u64::from(right)),
                };
                changed |= 1 << (number % 64);
            }
        }
        let found = self.root.map(|part| numbers[part]);
        (found[0] != UNKNOWN && found[1] != UNKNOWN).then_some(found)
    }

    /// The same; parts that are not known become so.
    ///
    /// # Errors
    /// If there is no room.
    pub(super) fn add(&mut self, state: &[u64]) -> Result<[u32; 2], Full> {
        let numbers = &mut self.added;
        numbers.clear();
        for (leaf, parts) in self.leaves.iter_mut().enumerate() {
            numbers.push(parts.add(pair_of(state, leaf))?);
        }
        for (parts, [left, right]) in &mut self.inner {
            let pair = u64::from(numbers[*left]) << 32 | u64::from(numbers[*right]);
            numbers.push(parts.add(pair)?);
        }
        Ok(self.root.map(|part| numbers[part]))
    }

    /// The state with two parts. `numbers` is working memory.
    pub(super) fn state(&self, root: [u32; 2], numbers: &mut Vec<u32>, state: &mut [u64]) {
        numbers.clear();
        numbers.resize(self.leaves.len() + self.inner.len(), 0);
        for (part, number) in self.root.into_iter().zip(root) {
            numbers[part] = number;
        }
        for (place, (parts, [left, right])) in self.inner.iter().enumerate().rev() {
            let pair = parts.all[numbers[self.leaves.len() + place] as usize];
            (numbers[*left], numbers[*right]) = ((pair >> 32) as u32, pair as u32);
        }
        for (words, (parts, &number)) in state.chunks_mut(2).zip(self.leaves.iter().zip(&*numbers)) {
            words.copy_from_slice(&parts.all[number as usize][..words.len()]);
        }
    }
}

#[inline]
fn pair_of(state: &[u64], leaf: usize) -> [u64; 2] {
    [state[2 * leaf], state.get(2 * leaf + 1).copied().unwrap_or(0)]
}

/// A part of a state.
trait Part: Copy + Eq {
    fn hash(self) -> u64;
}

impl Part for [u64; 2] {
    #[inline]
    fn hash(self) -> u64 {
        mix(mix(self[0] ^ 0x243f_6a88_85a3_08d3) ^ self[1])
    }
}

impl Part for u64 {
    #[inline]
    fn hash(self) -> u64 {
        mix(self)
    }
}

#[inline]
fn mix(number: u64) -> u64 {
    let product = u128::from(number ^ 0xa076_1d64_78bd_642f) * 0x9e37_79b9_7f4a_7c15;
    (product as u64) ^ (product >> 64) as u64
}

/// The different parts at one place, numbered, with a hash table of the numbers.
#[derive(Debug)]
struct Parts<K> {
    all: Vec<K>,
    /// Each entry: the upper half of the hash, and the number plus one; zero if vacant. A power of two.
    entries: Vec<u64>,
}

impl<K> Default for Parts<K> {
    fn default() -> Self {
        Self { all: Vec::new(), entries: vec![0; 16] }
    }
}

impl<K: Part> Parts<K> {
    fn bytes(&self) -> u64 {
        (size_of::<K>() * self.all.capacity() + 8 * self.entries.len()) as u64
    }

    #[inline]
    fn find(&self, part: K) -> u32 {
        self.probe(part, part.hash()).unwrap_or(UNKNOWN)
    }

    /// The number of a part, or the position where its entry would be.
    #[inline]
    fn probe(&self, part: K, hash: u64) -> Result<u32, usize> {
        let mask = self.entries.len() - 1;
        let mut position = hash as usize & mask;
        loop {
            let entry = self.entries[position];
            if entry == 0 {
                return Err(position);
            }
            let number = entry as u32 - 1;
            if entry >> 32 == hash >> 32 && self.all[number as usize] == part {
                return Ok(number);
            }
            position = (position + 1) & mask;
        }
    }

    fn add(&mut self, part: K) -> Result<u32, Full> {
        let hash = part.hash();
        let position = match self.probe(part, hash) {
            Ok(number) => return Ok(number),
            Err(position) => position,
        };
        if self.all.len() >= MOST {
            return Err(Full::Numbers);
        }
        if self.all.len() == self.all.capacity() {
            // A quarter more: there may be many.
            self.all.try_reserve_exact((self.all.len() / 4).max(16)).map_err(|_| Full::System)?;
        }
        self.all.push(part);
        self.entries[position] = (hash >> 32) << 32 | self.all.len() as u64;
        if 3 * self.all.len() > 2 * self.entries.len() {
            self.grow()?;
        }
        Ok(self.all.len() as u32 - 1)
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let length = 2 * self.entries.len();
        let mut entries = Vec::new();
        entries.try_reserve_exact(length).map_err(|_| Full::System)?;
        entries.resize(length, 0);
        for (number, part) in (1..).zip(&self.all) {
            let hash = part.hash();
            let mut position = hash as usize & (length - 1);
            while entries[position] != 0 {
                position = (position + 1) & (length - 1);
            }
            entries[position] = (hash >> 32) << 32 | number;
        }
        self.entries = entries;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_and_turned_back() {
        for words in 3..=40 {
            let state = |number: u64| -> Vec<u64> {
                (0..words as u64).map(|word| if word % 3 == number % 3 { number } else { number / 100 }).collect()
            };
            let mut tree = Tree::new(words);
            let mut memory = Numbers::default();
            let mut roots = Vec::new();
            for number in 0..2000 {
                roots.push(tree.add(&state(number)).expect("there is room"));
            }
            assert!((1..2000).all(|number| roots[number] != roots[number - 1]));
            let (mut numbers, mut back) = (Vec::new(), vec![0; words]);
            for number in 0..2000 {
                assert_eq!(tree.find(&state(number), &mut memory), Some(roots[number as usize]));
                tree.state(roots[number as usize], &mut numbers, &mut back);
                assert_eq!(back, state(number));
                let mut other = state(number);
                other[number as usize % words] += 1 << 40;
                assert_eq!(tree.find(&other, &mut memory), None);
                assert_eq!(tree.find(&other, &mut memory), None);
            }
        }
    }
}
