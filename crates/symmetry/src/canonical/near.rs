//! Sorting states that differ little from a sorted one: the successors of a representative.
//!
//! The keys of the representative are read once. In a successor, only the objects that a step changed get new keys, and
//! only the places whose contents are others after sorting are written.

use super::keys::{KeyPlan, insert};

/// The largest number of changed objects; with more, all keys are read.
const MOST_CHANGED: usize = 4;

/// Where a change in a state shows which objects changed.
#[derive(Clone, Debug)]
pub(super) struct NearPlan {
    words: Vec<NearWord>,
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
pub(super) struct NearScratch {
    /// The sorted keys of the state.
    before: Vec<u64>,
    /// The keys of a successor, before and after sorting.
    keys: Vec<u64>,
    sorted: Vec<u64>,
}

impl NearPlan {
    /// The plan for keys, if they are narrow and consist of bits that are moved unchanged and of what holds objects.
    pub(super) fn new(plan: &KeyPlan) -> Option<Self> {
        if plan.width == 0 || plan.width > 64 || plan.count > 255 {
            return None;
        }
        let mut words: Vec<NearWord> = Vec::new();
        for (object, word, bits) in plan.own_bits()? {
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
        Some(Self { words })
    }

    /// Reads the keys of a state. Returns whether they are sorted: only then its successors can be sorted from them.
    pub(super) fn begin(&self, plan: &KeyPlan, before: &[u64], scratch: &mut NearScratch) -> bool {
        scratch.before.resize(plan.count, 0);
        plan.load(before, &mut scratch.before);
        scratch.before.is_sorted()
    }

    /// Sorts a successor of a state whose keys were read. Returns false, and leaves the successor as it is, if too many
    /// objects changed.
    #[inline]
    pub(super) fn sort(&self, plan: &KeyPlan, before: &[u64], state: &mut [u64], scratch: &mut NearScratch) -> bool {
        let mut changed = [0u8; MOST_CHANGED];
        let mut count = 0;
        for NearWord { word, mask, object_of, bits_of } in &self.words {
            let mut difference = (before[*word] ^ state[*word]) & mask;
            while difference != 0 {
                let object = object_of[difference.trailing_zeros() as usize];
                difference &= !bits_of[object as usize];
                if !changed[..count].contains(&object) {
                    if count == MOST_CHANGED {
                        return false;
                    }
                    changed[count] = object;
                    count += 1;
                }
            }
        }
        let NearScratch { before: keys_before, keys, sorted } = scratch;
        let is_held_elsewhere = plan.is_held_elsewhere(before, state);
        if count == 1 && !is_held_elsewhere {
            let object = changed[0] as usize;
            let mut key = keys_before[object];
            plan.reload(object, state, &mut key);
            move_one(plan, keys_before, object, key, state);
            return true;
        }
        if count == 0 && !is_held_elsewhere {
            return true;
        }
        keys.clone_from(keys_before);
        for &object in &changed[..count] {
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
