//! Sorting states that differ little from a sorted one: the successors of a representative.
//!
//! The keys of the representative are read once. In a successor, only the objects that a step changed get new keys, and
//! only the places whose contents are others after sorting are written. Objects inside objects are sorted the same way:
//! the changed ones among their siblings, and then the block that they belong to among the others.

use std::cmp::Ordering;

use crate::cardinality::Cardinality;
use crate::keys::{FEW, KeyPlan, insert};

/// The largest number of changed objects; with more, all keys are read.
const MOST_CHANGED: usize = 4;

/// Some bits of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    words: Vec<(usize, u64)>,
}

impl Bits {
    /// Adds bits of a word.
    pub(crate) fn add(&mut self, word: usize, bits: u64) {
        match self.words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, mask)) => *mask |= bits,
            None => self.words.push((word, bits)),
        }
    }

    /// Adds all bits that keys depend on.
    pub(crate) fn add_keys(&mut self, plan: &KeyPlan) {
        plan.own_bits().into_iter().for_each(|(_, word, bits)| self.add(word, bits));
        plan.holder_bits().for_each(|(word, bits)| self.add(word, bits));
    }

    /// Whether two states differ there.
    #[inline]
    pub(crate) fn differ(&self, before: &[u64], state: &[u64]) -> bool {
        self.words.iter().any(|&(word, mask)| (before[word] ^ state[word]) & mask != 0)
    }
}

/// Where a change in a state shows which objects changed.
#[derive(Clone, Debug)]
pub(crate) struct NearPlan {
    words: Vec<NearWord>,
    /// The variables that can hold objects.
    holders: Bits,
}

#[derive(Clone, Debug)]
struct NearWord {
    word: usize,
    /// All bits of objects.
    mask: u64,
    /// The object of each bit, and the bits of each object.
    object_of: Box<[u8; 64]>,
    bits_of: Vec<u64>,
}

/// Working memory for sorting successors of one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct NearScratch {
    /// The sorted keys of the state.
    before: Vec<u64>,
    /// The keys of a successor, before and after sorting.
    keys: Vec<u64>,
    sorted: Vec<u64>,
    /// The keys of the blocks of the state.
    blocks: Vec<u64>,
}

/// The objects that a step changed.
pub(crate) struct Changed {
    objects: [u8; MOST_CHANGED],
    count: usize,
}

impl Changed {
    #[inline]
    pub(crate) fn objects(&self) -> &[u8] {
        &self.objects[..self.count]
    }
}

impl NearPlan {
    /// The plan for keys, if they are narrow.
    pub(crate) fn new(plan: &KeyPlan) -> Option<Self> {
        if plan.width == 0 || plan.width > 64 || plan.count > 255 {
            return None;
        }
        let mut words: Vec<NearWord> = Vec::new();
        for (object, word, bits) in plan.own_bits() {
            let position = words.iter().position(|known| known.word == word).unwrap_or_else(|| {
                let object_of = Box::new([0; 64]);
                words.push(NearWord { word, mask: 0, object_of, bits_of: vec![0; plan.count] });
                words.len() - 1
            });
            let entry = &mut words[position];
            entry.mask |= bits;
            entry.bits_of[object] |= bits;
            (0..64).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| entry.object_of[bit] = object as u8);
        }
        let mut holders = Bits::default();
        plan.holder_bits().for_each(|(word, bits)| holders.add(word, bits));
        Some(Self { words, holders })
    }

    /// Reads the keys of a state. Returns whether they are sorted: only then its successors can be sorted from them.
    pub(crate) fn begin(&self, plan: &KeyPlan, before: &[u64], scratch: &mut NearScratch) -> bool {
        scratch.before.resize(plan.count, 0);
        plan.load(before, &mut scratch.before);
        scratch.before.is_sorted()
    }

    /// The objects whose own bits changed; `None` if there are too many.
    #[inline(always)]
    fn changed(&self, before: &[u64], state: &[u64]) -> Option<Changed> {
        let mut changed = Changed { objects: [0; MOST_CHANGED], count: 0 };
        for NearWord { word, mask, object_of, bits_of } in &self.words {
            let mut difference = (before[*word] ^ state[*word]) & mask;
            while difference != 0 {
                let object = object_of[difference.trailing_zeros() as usize];
                difference &= !bits_of[object as usize];
                if !changed.objects().contains(&object) {
                    if changed.count == MOST_CHANGED {
                        return None;
                    }
                    changed.objects[changed.count] = object;
                    changed.count += 1;
                }
            }
        }
        Some(changed)
    }

    /// The same; `None` also if a variable that can hold objects changed.
    #[inline(always)]
    pub(crate) fn changed_alone(&self, before: &[u64], state: &[u64]) -> Option<Changed> {
        if self.holders.differ(before, state) { None } else { self.changed(before, state) }
    }

    /// Sorts a successor of a state whose keys were read. Returns false, and leaves the successor as it is, if too many
    /// objects changed.
    #[inline]
    pub(crate) fn sort(&self, plan: &KeyPlan, before: &[u64], state: &mut [u64], scratch: &mut NearScratch) -> bool {
        let Some(changed) = self.changed(before, state) else { return false };
        let NearScratch { before: keys_before, keys, sorted, .. } = scratch;
        let is_held_elsewhere = self.holders.differ(before, state);
        if changed.count <= 1 && !is_held_elsewhere {
            if let &[object] = changed.objects() {
                let object = object as usize;
                let mut key = keys_before[object];
                plan.reload(object, state, &mut key);
                move_one(plan, keys_before, object, key, state);
            }
            return true;
        }
        keys.clone_from(keys_before);
        for &object in changed.objects() {
            plan.reload(object as usize, state, &mut keys[object as usize]);
        }
        if is_held_elsewhere {
            plan.update_held(before, state, keys);
        }
        sorted.clone_from(keys);
        if insert(sorted) {
            plan.store_changes(keys, sorted, state);
        }
        true
    }
}

/// Moves an object with a new key to its place among the others, which are in order.
#[inline]
fn move_one(plan: &KeyPlan, keys: &[u64], object: usize, key: u64, state: &mut [u64]) {
    if object > 0 && key < keys[object - 1] {
        let to = (0..object).rev().take_while(|&place| key < keys[place]).last().unwrap_or(object);
        plan.shift(to, object, |place| if place == to { key } else { keys[place - 1] }, state);
    } else if keys.get(object + 1).is_some_and(|&next| next < key) {
        let to = (object + 1..keys.len()).take_while(|&place| keys[place] < key).last().unwrap_or(object);
        plan.shift(object, to, |place| if place == to { key } else { keys[place + 1] }, state);
    }
}

/// Objects inside blocks that can be exchanged, too.
#[derive(Clone, Debug)]
pub(crate) struct NearBlocks {
    /// The number of objects in each block.
    size: usize,
    inner: NearPlan,
    /// The blocks' own contents, if they have any.
    outer: Option<NearPlan>,
}

impl NearBlocks {
    /// The plan for the keys of blocks and of what is inside them.
    pub(crate) fn new(outer: &KeyPlan, inner: &KeyPlan) -> Option<Self> {
        let size = inner.count / outer.count;
        if size > FEW {
            return None;
        }
        let inner = NearPlan::new(inner)?;
        let outer = if outer.width == 0 { None } else { Some(NearPlan::new(outer)?) };
        Some(Self { size, inner, outer })
    }

    /// Reads the keys of a state. Returns whether objects and blocks are sorted.
    pub(crate) fn begin(&self, plans: &[KeyPlan], before: &[u64], scratch: &mut NearScratch) -> bool {
        let NearScratch { before: keys, blocks, .. } = scratch;
        blocks.resize(plans[0].count, 0);
        plans[0].load(before, blocks);
        keys.resize(plans[1].count, 0);
        plans[1].load(before, keys);
        let is_sorted = keys.chunks_exact(self.size).all(|block| block.is_sorted());
        is_sorted && (1..blocks.len()).all(|block| self.compare(keys, blocks, block - 1, block).is_le())
    }

    /// Compares two blocks of the state whose keys were read.
    #[inline]
    fn compare(&self, keys: &[u64], blocks: &[u64], one: usize, other: usize) -> Ordering {
        let inside = |block: usize| &keys[block * self.size..][..self.size];
        blocks[one].cmp(&blocks[other]).then_with(|| inside(one).cmp(inside(other)))
    }

    /// The number of arrangements that fix the sorted state whose keys were read.
    pub(crate) fn stabiliser_order(&self, scratch: &NearScratch) -> Cardinality {
        let NearScratch { before: keys, blocks, .. } = scratch;
        let mut order = Cardinality::ONE;
        for block in keys.chunks_exact(self.size) {
            order.multiply_orders(block, |one, other| one == other);
        }
        let numbers: Vec<usize> = (0..blocks.len()).collect();
        order.multiply_orders(&numbers, |&one, &other| self.compare(keys, blocks, one, other).is_eq());
        order
    }

    /// Sorts a successor of a state whose keys were read. Returns false, and leaves the successor as it is, if more than
    /// one block changed.
    #[inline]
    pub(crate) fn sort(&self, plans: &[KeyPlan], before: &[u64], state: &mut [u64], scratch: &mut NearScratch) -> bool {
        let size = self.size;
        let nothing = || Some(Changed { objects: [0; MOST_CHANGED], count: 0 });
        let outer = self.outer.as_ref().map_or_else(nothing, |outer| outer.changed_alone(before, state));
        let (Some(inner), Some(outer)) = (self.inner.changed_alone(before, state), outer) else { return false };
        let block = match (inner.objects().first(), outer.objects().first()) {
            (Some(&object), _) => object as usize / size,
            (None, Some(&block)) => block as usize,
            (None, None) => return true,
        };
        if inner.objects().iter().any(|&object| object as usize / size != block)
            || outer.objects().iter().any(|&other| other as usize != block)
        {
            return false;
        }
        let NearScratch { before: keys, blocks, .. } = scratch;
        let mut inside = [0; FEW];
        let inside = &mut inside[..size];
        let first = block * size;
        inside.copy_from_slice(&keys[first..first + size]);
        for &object in inner.objects() {
            let object = object as usize;
            plans[1].reload(object, state, &mut inside[object - first]);
        }
        let mut own = blocks[block];
        if outer.count > 0 {
            plans[0].reload(block, state, &mut own);
        }
        let changed_inside = changed_by_insertion(inside);
        // The order of the changed block and another one.
        let compare = |other: usize| own.cmp(&blocks[other]).then_with(|| (*inside).cmp(&keys[other * size..][..size]));
        let to = if block > 0 && compare(block - 1).is_lt() {
            (0..block).rev().take_while(|&place| compare(place).is_lt()).last().unwrap_or(block)
        } else {
            (block + 1..blocks.len()).take_while(|&place| compare(place).is_gt()).last().unwrap_or(block)
        };
        if to == block {
            if let Some((from, last)) = changed_inside {
                plans[1].shift(first + from, first + last, |place| inside[place - first], state);
            }
            return true;
        }
        let (low, high) = (block.min(to), block.max(to));
        // The blocks between move by one place, in the other direction.
        let source = |place: usize| if to < block { place - 1 } else { place + 1 };
        plans[0].shift(low, high, |place| if place == to { own } else { blocks[source(place)] }, state);
        let key = |place: usize| {
            let (block, object) = (place / size, place % size);
            if block == to { inside[object] } else { keys[source(block) * size + object] }
        };
        plans[1].shift(low * size, high * size + size - 1, key, state);
        true
    }
}

/// Sorts keys by insertion. Returns the first and the last place that have another key now.
#[inline]
fn changed_by_insertion(keys: &mut [u64]) -> Option<(usize, usize)> {
    let mut range: Option<(usize, usize)> = None;
    for next in 1..keys.len() {
        let key = keys[next];
        let mut position = next;
        while position > 0 && keys[position - 1] > key {
            keys[position] = keys[position - 1];
            position -= 1;
        }
        if position < next {
            keys[position] = key;
            range = Some(range.map_or((position, next), |(first, _)| (first.min(position), next)));
        }
    }
    range
}
