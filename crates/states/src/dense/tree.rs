//! States of many words as pairs of numbers of parts, which are pairs of numbers of smaller parts, and so on (the trees
//! of LTSmin). States that differ in few words have most of their parts in common, and each part is kept once.

use crate::numbers::Full;

/// The number of a part that is not known.
const UNKNOWN: u32 = u32::MAX;
/// The greatest number of parts at one place of a tree.
const MOST: usize = 1 << 31;
/// Entries of the smallest hash table of parts.
const FIRST_ENTRIES: usize = 16;

/// The parts of states of a number of words.
#[derive(Debug)]
pub(super) struct Tree {
    shape: Shape,
    /// Pairs of words.
    leaves: Vec<Parts<[u64; 2]>>,
    /// Pairs of numbers of parts.
    inner: Vec<Parts<u64>>,
    /// The state added last.
    added: Numbers,
}

/// Which parts the parts consist of: first the leaves, then the others, in order.
#[derive(Debug)]
struct Shape {
    words: usize,
    leaves: usize,
    inner: Vec<[usize; 2]>,
    /// The two parts of a whole state.
    root: [usize; 2],
}

/// The numbers of the parts of one state. The next state has most of them, too.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    numbers: Vec<u32>,
    /// The state.
    words: Vec<u64>,
}

/// A set of parts, by their numbers modulo 64: it may have more parts than were added.
#[derive(Clone, Copy, Debug, Default)]
struct Changed(u64);

impl Changed {
    #[inline]
    fn add(&mut self, part: usize) {
        self.0 |= 1 << (part % 64);
    }
    #[inline]
    fn has(self, part: usize) -> bool {
        self.0 >> (part % 64) & 1 == 1
    }
    /// Gives a part another number.
    #[inline]
    fn set(&mut self, numbers: &mut [u32], part: usize, number: u32) {
        if numbers[part] != number {
            numbers[part] = number;
            self.add(part);
        }
    }
}

impl Shape {
    fn new(words: usize) -> Self {
        let leaves = words.div_ceil(2);
        let mut inner = Vec::new();
        let mut row: Vec<usize> = (0..leaves).collect();
        while row.len() > 2 {
            let mut above = Vec::new();
            for pair in row.chunks(2) {
                if let &[left, right] = pair {
                    above.push(leaves + inner.len());
                    inner.push([left, right]);
                } else {
                    above.push(pair[0]);
                }
            }
            row = above;
        }
        Self { words, leaves, inner, root: [row[0], row[1]] }
    }

    /// Makes room for the numbers of a state; returns whether there were none.
    fn prepare(&self, memory: &mut Numbers) -> bool {
        let is_first = memory.words.len() != self.words;
        if is_first {
            memory.words.clear();
            memory.words.resize(self.words, 0);
            memory.numbers.clear();
            memory.numbers.resize(self.leaves + self.inner.len(), UNKNOWN);
        }
        is_first
    }

    /// Replaces the numbers of the parts of one state by those of another, given what finds the number of a leaf and of
    /// another part. Parts that both states have are not looked up again.
    #[inline]
    fn fold<T>(
        &self,
        state: &[u64],
        memory: &mut Numbers,
        parts: &mut T,
        leaf: impl Fn(&mut T, usize, [u64; 2]) -> u32,
        inner: impl Fn(&mut T, usize, u64) -> u32,
    ) -> Option<[u32; 2]> {
        let is_first = self.prepare(memory);
        let Numbers { numbers, words } = memory;
        let mut changed = Changed::default();
        for (place, number) in numbers[..self.leaves].iter_mut().enumerate() {
            let pair = pair_of(state, place);
            if is_first || pair != pair_of(words, place) {
                *number = leaf(parts, place, pair);
                changed.add(place);
            }
        }
        words.copy_from_slice(&state[..self.words]);
        for (place, &[left, right]) in self.inner.iter().enumerate() {
            if changed.has(left) || changed.has(right) {
                let (left, right) = (numbers[left], numbers[right]);
                numbers[self.leaves + place] = match left == UNKNOWN || right == UNKNOWN {
                    true => UNKNOWN,
                    false => inner(parts, place, u64::from(left) << 32 | u64::from(right)),
                };
                changed.add(self.leaves + place);
            }
        }
        let found = self.root.map(|part| numbers[part]);
        (found[0] != UNKNOWN && found[1] != UNKNOWN).then_some(found)
    }
}

impl Tree {
    /// For states of at least three words.
    pub(super) fn new(words: usize) -> Self {
        let shape = Shape::new(words);
        let leaves = (0..shape.leaves).map(|_| Parts::default()).collect();
        let inner = shape.inner.iter().map(|_| Parts::default()).collect();
        Self { shape, leaves, inner, added: Numbers::default() }
    }

    pub(super) fn bytes(&self) -> u64 {
        let leaves: u64 = self.leaves.iter().map(Parts::bytes).sum();
        leaves + self.inner.iter().map(Parts::bytes).sum::<u64>()
    }

    /// The numbers of the two parts of a state, if they are known, given the state that was looked up before.
    #[inline]
    pub(super) fn find(&self, state: &[u64], memory: &mut Numbers) -> Option<[u32; 2]> {
        let (leaf, inner) = (
            |tree: &mut &Self, place: usize, pair| tree.leaves[place].find(pair),
            |tree: &mut &Self, place: usize, pair| tree.inner[place].find(pair),
        );
        self.shape.fold(state, memory, &mut &*self, leaf, inner)
    }

    /// The same; parts that are not known become so.
    ///
    /// # Errors
    /// If there is no room.
    #[inline]
    pub(super) fn add(&mut self, state: &[u64]) -> Result<[u32; 2], Full> {
        let Self { shape, leaves, inner, added } = self;
        let mut parts = (leaves, inner, Full::Numbers);
        let root = shape.fold(
            state,
            added,
            &mut parts,
            |(leaves, _, full), place, pair| number_or(leaves[place].add(pair), full),
            |(_, inner, full), place, pair| number_or(inner[place].add(pair), full),
        );
        root.ok_or_else(|| {
            added.words.clear();
            parts.2
        })
    }

    /// The state with two parts, given the one that was asked for before.
    #[inline]
    pub(super) fn state<'m>(&self, root: [u32; 2], memory: &'m mut Numbers) -> &'m [u64] {
        self.shape.prepare(memory);
        let Numbers { numbers, words } = memory;
        let mut changed = Changed::default();
        for (part, number) in self.shape.root.into_iter().zip(root) {
            changed.set(numbers, part, number);
        }
        for (place, (parts, &[left, right])) in self.inner.iter().zip(&self.shape.inner).enumerate().rev() {
            let part = self.shape.leaves + place;
            if changed.has(part) {
                let pair = parts.all[numbers[part] as usize];
                changed.set(numbers, left, (pair >> 32) as u32);
                changed.set(numbers, right, pair as u32);
            }
        }
        for (place, (parts, words)) in self.leaves.iter().zip(words.chunks_mut(2)).enumerate() {
            if changed.has(place) {
                words.copy_from_slice(&parts.all[numbers[place] as usize][..words.len()]);
            }
        }
        words
    }
}

/// The number of a part that was added, or why there is none.
#[inline]
fn number_or(added: Result<u32, Full>, full: &mut Full) -> u32 {
    added.unwrap_or_else(|reason| {
        *full = reason;
        UNKNOWN
    })
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

/// The different parts at one place, numbered, with a hash table of the numbers: linear probing, at most four fifths full.
#[derive(Debug)]
struct Parts<K> {
    all: Vec<K>,
    /// Eight bits of the hash of each entry; zero if it is vacant.
    tags: Vec<u8>,
    numbers: Vec<u32>,
}

impl<K> Default for Parts<K> {
    fn default() -> Self {
        Self { all: Vec::new(), tags: vec![0; FIRST_ENTRIES], numbers: vec![0; FIRST_ENTRIES] }
    }
}

/// The tag of a hash, and where it belongs among so many entries.
#[inline]
fn place(hash: u64, length: usize) -> (u8, usize) {
    let home = ((hash >> 32) * length as u64) >> 32;
    ((hash as u8).max(1), home as usize)
}

impl<K: Part> Parts<K> {
    fn bytes(&self) -> u64 {
        (size_of::<K>() * self.all.capacity() + 5 * self.tags.len()) as u64
    }

    #[inline]
    fn find(&self, part: K) -> u32 {
        self.probe(part, part.hash()).unwrap_or(UNKNOWN)
    }

    /// The number of a part, or the position where its entry would be.
    #[inline]
    fn probe(&self, part: K, hash: u64) -> Result<u32, usize> {
        let (tag, mut position) = place(hash, self.tags.len());
        loop {
            match self.tags[position] {
                0 => return Err(position),
                known if known == tag && self.all[self.numbers[position] as usize] == part => {
                    return Ok(self.numbers[position]);
                }
                _ => position = if position + 1 == self.tags.len() { 0 } else { position + 1 },
            }
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
            // An eighth more: there may be many.
            self.all.try_reserve_exact((self.all.len() / 8).max(16)).map_err(|_| Full::System)?;
        }
        let number = self.all.len() as u32;
        self.all.push(part);
        self.tags[position] = place(hash, self.tags.len()).0;
        self.numbers[position] = number;
        if 5 * self.all.len() > 4 * self.tags.len() {
            self.grow()?;
        }
        Ok(number)
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let length = self.tags.len() + self.tags.len() / 2;
        let (mut tags, mut numbers) = (Vec::new(), Vec::new());
        tags.try_reserve_exact(length).map_err(|_| Full::System)?;
        numbers.try_reserve_exact(length).map_err(|_| Full::System)?;
        tags.resize(length, 0);
        numbers.resize(length, 0);
        for (number, part) in (0..).zip(&self.all) {
            let (tag, mut position) = place(part.hash(), length);
            while tags[position] != 0 {
                position = if position + 1 == length { 0 } else { position + 1 };
            }
            (tags[position], numbers[position]) = (tag, number);
        }
        (self.tags, self.numbers) = (tags, numbers);
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
            let mut back = Numbers::default();
            for number in 0..2000 {
                assert_eq!(tree.find(&state(number), &mut memory), Some(roots[number as usize]));
                assert_eq!(tree.state(roots[number as usize], &mut back), state(number));
                let mut other = state(number);
                other[number as usize % words] += 1 << 40;
                assert_eq!(tree.find(&other, &mut memory), None);
                assert_eq!(tree.find(&other, &mut memory), None);
            }
        }
    }
}
