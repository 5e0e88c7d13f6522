//! Rotations: objects in a ring, rotated so that the sequence of their keys is least. The rotation is found in time
//! linear in the length of the ring (Shiloach 1981). Symmetries beyond the rotations (reflections, permutations of
//! values) are tried one after the other, each followed by the best rotation.

use rustc_hash::FxHashMap;

use quotient_groups::{OrbitPartition, Point, SparsePermutation};

use crate::elements::CodeMap;
use crate::keys::{Key, KeyPlan};
use crate::near::NearPlan;
use crate::points::View;

/// Rotates the objects of a ring.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    plan: KeyPlan,
    /// Present if all contents lie within windows of words.
    windows: Option<Vec<Window>>,
    /// Whether the keys of all objects fit one number of 128 bits.
    is_packed: bool,
    /// Where a step changes keys.
    near: Option<NearPlan>,
    /// One element of each coset of the rotations, except the first.
    others: Vec<CodeMap>,
}

/// A window of a word in which objects lie at equal distances.
#[derive(Clone, Copy, Debug)]
struct Window {
    word: u32,
    first: u32,
    stride: u32,
    /// All bits of objects.
    mask: u64,
    /// All bits of the window.
    size: u32,
}

/// Working memory for rotating.
#[derive(Clone, Debug, Default)]
pub(crate) struct RingScratch {
    narrow: Vec<u64>,
    turned: Vec<u64>,
    wide: Vec<u128>,
    tokens: Vec<u64>,
    codes: Vec<u64>,
    image: Vec<u64>,
    state: Vec<u64>,
    best: Vec<u64>,
    /// The fields and rotations looked at so far.
    pub(crate) work: u64,
}

impl Ring {
    /// The ring rotated by an element whose cycles all have the same length, and one element of each coset of its
    /// powers, without the identity.
    pub(crate) fn new(view: &View, turn: &SparsePermutation, length: usize, others: Vec<CodeMap>) -> Option<Self> {
        // Each cycle of fields has its own start, and so does each cycle of points of a fixed field.
        let mut orbits = OrbitPartition::new(view.origins.len());
        orbits.merge_cycles(turn);
        let mut place: Vec<Option<usize>> = vec![None; view.origins.len()];
        for field in 0..view.fields.len() {
            for start in view.contents[field].points() {
                if place[start as usize].is_some() {
                    continue;
                }
                let mut point = start;
                for position in 0..length {
                    place[point as usize] = Some(position);
                    point = turn.image(point);
                }
            }
        }
        let roots: Vec<usize> = (0..view.origins.len() as Point).map(|point| orbits.find(point) as usize).collect();
        let turned =
            View { action: quotient_groups::action::Action::new(view.origins.len(), [turn.clone()]), ..view.clone() };
        let plan = KeyPlan::new(&turned, length, |point| place[point as usize], |point| roots[point as usize], true)?;
        let windows = plan.strided_runs().and_then(|runs| {
            let window = |(word, first, stride, width): (u32, u32, u32, u32)| {
                let size = stride.checked_mul(length as u32).filter(|&size| size <= 64)?;
                let mask =
                    (0..length as u32).fold(0, |mask, thing| mask | (u64::MAX >> (64 - width)) << (thing * stride));
                Some(Window { word, first, stride, mask, size })
            };
            runs.into_iter().map(window).collect::<Option<Vec<_>>>()
        });
        let is_packed = plan.width > 0 && plan.width as usize * length <= 128;
        let near = if is_packed && windows.is_none() && others.is_empty() { NearPlan::new(&plan) } else { None };
        Some(Self { plan, windows, is_packed, near, others })
    }

    /// The number of coset elements tried for each rotation.
    pub(crate) fn coset_count(&self) -> usize {
        self.others.len() + 1
    }

    /// A description for reports.
    pub(crate) fn describe(&self) -> String {
        let turns = format!("the least of {} rotations", self.plan.count);
        if self.others.is_empty() { turns } else { format!("{turns} of each of {} images", self.coset_count()) }
    }

    #[inline]
    pub(crate) fn canonicalize(&self, view: &View, state: &mut [u64], scratch: &mut RingScratch) {
        if self.others.is_empty() {
            scratch.work += self.plan.count as u64;
            return self.turn(state, scratch);
        }
        let mut codes = std::mem::take(&mut scratch.codes);
        let mut image = std::mem::take(&mut scratch.image);
        let mut candidate = std::mem::take(&mut scratch.state);
        let mut best = std::mem::take(&mut scratch.best);
        view.read(state, &mut codes);
        best.clear();
        best.extend_from_slice(state);
        self.turn(&mut best, scratch);
        scratch.work += ((self.others.len() + 1) * (2 * codes.len() + self.plan.count)) as u64;
        for map in &self.others {
            map.apply(&codes, &mut image);
            candidate.clear();
            candidate.extend_from_slice(state);
            view.write(&image, &mut candidate);
            self.turn(&mut candidate, scratch);
            if candidate < best {
                std::mem::swap(&mut candidate, &mut best);
            }
        }
        state.copy_from_slice(&best);
        (scratch.codes, scratch.image, scratch.state, scratch.best) = (codes, image, candidate, best);
    }

    /// Rotates several states. `before` is a state that they differ little from.
    pub(crate) fn canonicalize_all<'s>(
        &self,
        view: &View,
        before: Option<&[u64]>,
        states: impl Iterator<Item = &'s mut [u64]>,
        scratch: &mut RingScratch,
    ) {
        match before.zip(self.near.as_ref()) {
            Some((before, near)) if self.plan.width as usize * self.plan.count <= 64 => {
                self.turn_near::<u64>(before, near, states, scratch);
            }
            Some((before, near)) => self.turn_near::<u128>(before, near, states, scratch),
            None => states.for_each(|state| self.canonicalize(view, state, scratch)),
        }
    }

    /// The same with the keys of all objects in one number: only those of objects that changed are read.
    fn turn_near<'s, K: Key>(
        &self,
        before: &[u64],
        near: &NearPlan,
        states: impl Iterator<Item = &'s mut [u64]>,
        scratch: &mut RingScratch,
    ) {
        let (count, width) = (self.plan.count, self.plan.width);
        let mut keys = std::mem::take(&mut scratch.narrow);
        keys.clear();
        keys.resize(count, 0);
        self.plan.load(before, &mut keys);
        let all_before = pack::<K, u64>(&keys, width);
        for state in states {
            scratch.work += count as u64;
            let Some(changed) = near.changed_alone(before, state) else {
                self.turn(state, scratch);
                continue;
            };
            let mut all = all_before;
            for &object in changed.objects() {
                let object = object as usize;
                let mut key = keys[object];
                self.plan.reload(object, state, &mut key);
                all = all ^ K::of(key ^ keys[object]) << (width * (count - 1 - object) as u32);
            }
            self.turn_packed(all, state, &mut scratch.turned);
        }
        scratch.narrow = keys;
    }

    /// Writes the least rotation of keys, if it is another one.
    #[inline]
    fn turn_packed<K: Key>(&self, all: K, state: &mut [u64], turned: &mut Vec<u64>) {
        let (count, width) = (self.plan.count, self.plan.width);
        let mut least = least_turn(all, count as u32, width);
        if least == all {
            return;
        }
        turned.resize(count, 0);
        let mask = u64::MAX >> (64 - width);
        for key in turned.iter_mut().rev() {
            *key = least.low() & mask;
            least = least >> width;
        }
        self.plan.store(turned, state);
    }

    pub(crate) fn orbit_size(&self, view: &View, state: &[u64], scratch: &mut RingScratch) -> u64 {
        if self.others.is_empty()
            && let Some([window]) = self.windows.as_deref()
        {
            let bits = state[window.word as usize] >> window.first & window.mask;
            let count = self.plan.count as u32;
            return u64::from((1..count).find(|&start| window.turned(bits, start) == bits).unwrap_or(count));
        }
        if self.others.is_empty() && self.plan.width <= 128 {
            let keys = &mut scratch.wide;
            keys.clear();
            keys.resize(self.plan.count, 0);
            self.plan.load(state, keys);
            let count = keys.len();
            let is_period = |period: &usize| count.is_multiple_of(*period) && keys[*period..] == keys[..count - period];
            return (1..count).find(is_period).unwrap_or(count) as u64;
        }
        let mut codes = Vec::new();
        let mut image = Vec::new();
        view.read(state, &mut codes);
        let mut sizes: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
        for number in 0..=self.others.len() {
            let mut candidate = state.to_vec();
            if number > 0 {
                self.others[number - 1].apply(&codes, &mut image);
                view.write(&image, &mut candidate);
            }
            self.turn(&mut candidate, scratch);
            let words = self.plan.load_wide(&candidate, &mut scratch.tokens);
            let thing = |number: usize| &scratch.tokens[number * words..][..words];
            let count = self.plan.count;
            let period = (1..=count)
                .find(|&period| {
                    count.is_multiple_of(period)
                        && (period..count).all(|number| thing(number) == thing(number - period))
                })
                .expect("a full turn leaves everything as it is");
            sizes.insert(candidate, period);
        }
        sizes.values().sum::<usize>() as u64
    }

    /// Rotates the ring to its least position.
    #[inline]
    fn turn(&self, state: &mut [u64], scratch: &mut RingScratch) {
        if let Some(windows) = &self.windows {
            return self.turn_windows(windows, state);
        }
        match self.plan.width {
            0..=64 if self.is_packed => {
                let mut keys = std::mem::take(&mut scratch.narrow);
                keys.clear();
                keys.resize(self.plan.count, 0);
                self.plan.load(state, &mut keys);
                match self.plan.width as usize * self.plan.count {
                    0..=64 => self.turn_packed(pack::<u64, u64>(&keys, self.plan.width), state, &mut scratch.turned),
                    _ => self.turn_packed(pack::<u128, u64>(&keys, self.plan.width), state, &mut scratch.turned),
                }
                scratch.narrow = keys;
            }
            0..=64 => self.turn_keys(state, &mut scratch.narrow),
            65..=128 => self.turn_keys(state, &mut scratch.wide),
            _ => {
                let words = self.plan.load_wide(state, &mut scratch.tokens);
                let thing = |number: usize| &scratch.tokens[number * words..][..words];
                let start = least_rotation(self.plan.count, |left, right| thing(left).cmp(thing(right)));
                if start > 0 {
                    let order: Vec<u32> =
                        (0..self.plan.count).map(|place| ((place + start) % self.plan.count) as u32).collect();
                    self.plan.store_wide(&scratch.tokens, &order, state);
                }
            }
        }
    }

    #[inline]
    fn turn_keys<K: Key>(&self, state: &mut [u64], keys: &mut Vec<K>) {
        keys.clear();
        keys.resize(self.plan.count, K::default());
        self.plan.load(state, keys);
        let start = start_of_least(keys);
        if start > 0 {
            keys.rotate_left(start);
            self.plan.store(keys, state);
        }
    }

    #[inline]
    fn turn_windows(&self, windows: &[Window], state: &mut [u64]) {
        let count = self.plan.count as u32;
        if let [window] = windows {
            let word = &mut state[window.word as usize];
            let bits = *word >> window.first & window.mask;
            let least = (1..count).fold(bits, |least, start| least.min(window.turned(bits, start)));
            *word = *word & !(window.mask << window.first) | least << window.first;
            return;
        }
        let mut best = 0;
        for start in 1..count {
            for window in windows {
                let bits = state[window.word as usize] >> window.first & window.mask;
                let (least, turned) = (window.turned(bits, best), window.turned(bits, start));
                if turned != least {
                    if turned < least {
                        best = start;
                    }
                    break;
                }
            }
        }
        if best > 0 {
            for window in windows {
                let word = &mut state[window.word as usize];
                let bits = *word >> window.first & window.mask;
                *word = *word & !(window.mask << window.first) | window.turned(bits, best) << window.first;
            }
        }
    }
}

impl Window {
    /// The bits rotated so that the object at `start` comes first.
    #[inline]
    fn turned(&self, bits: u64, start: u32) -> u64 {
        if start == 0 {
            return bits;
        }
        let shift = start * self.stride;
        (bits >> shift | bits << (self.size - shift)) & self.mask
    }
}

/// Keys in one number, the first one highest.
#[inline]
fn pack<K: Key, S: Key>(keys: &[S], width: u32) -> K {
    keys.iter().fold(K::default(), |all, key| all << width | K::of(key.low()))
}

/// The least rotation of keys in one number.
#[inline]
fn least_turn<K: Key>(all: K, count: u32, width: u32) -> K {
    let size = count * width;
    let mask = K::cut(u128::MAX >> (128 - size));
    (1..count).fold(all, |least, turn| {
        let turned = (all << (turn * width) | all >> (size - turn * width)) & mask;
        least.min(turned)
    })
}

/// The start of the least rotation of keys. It begins with a least key, and there are few of these, as a rule.
#[inline]
fn start_of_least<K: Key>(keys: &[K]) -> usize {
    let Some(&least) = keys.iter().min() else { return 0 };
    let mut starts = [0; 4];
    let mut count = 0;
    for (start, _) in keys.iter().enumerate().filter(|&(_, &key)| key == least) {
        if count == starts.len() {
            return least_rotation(keys.len(), |left, right| keys[left].cmp(&keys[right]));
        }
        starts[count] = start;
        count += 1;
    }
    let rotated = |start: usize| keys[start..].iter().chain(&keys[..start]);
    let mut best = starts[0];
    for &start in &starts[1..count] {
        if rotated(start).lt(rotated(best)) {
            best = start;
        }
    }
    best
}

/// The start of the least rotation of a sequence; the first one if there are several.
#[inline]
fn least_rotation(length: usize, compare: impl Fn(usize, usize) -> std::cmp::Ordering) -> usize {
    let wrap = |position: usize| if position >= length { position - length } else { position };
    let (mut left, mut right, mut same) = (0, 1, 0);
    while left < length && right < length && same < length {
        match compare(wrap(left + same), wrap(right + same)) {
            std::cmp::Ordering::Equal => same += 1,
            std::cmp::Ordering::Less => {
                right += same + 1;
                same = 0;
            }
            std::cmp::Ordering::Greater => {
                left += same + 1;
                same = 0;
            }
        }
        if left == right {
            right += 1;
        }
    }
    left.min(right)
}

#[cfg(test)]
mod tests {
    use super::{least_rotation, least_turn, pack, start_of_least};

    #[test]
    fn least_rotations_of_short_sequences() {
        for length in 1..8usize {
            for number in 0..3usize.pow(length as u32) {
                let digits: Vec<usize> = (0..length).map(|place| number / 3usize.pow(place as u32) % 3).collect();
                let turned = |start: usize| -> Vec<usize> {
                    (0..length).map(|place| digits[(place + start) % length]).collect()
                };
                let least = (0..length).map(turned).min().expect("a rotation");
                let start = least_rotation(length, |left, right| digits[left].cmp(&digits[right]));
                assert_eq!(turned(start), least, "{digits:?}");
                let keys: Vec<u64> = digits.iter().map(|&digit| digit as u64).collect();
                assert_eq!(turned(start_of_least(&keys)), least, "{digits:?}");
                let least: Vec<u64> = least.iter().map(|&digit| digit as u64).collect();
                assert_eq!(least_turn(pack::<u64, u64>(&keys, 2), length as u32, 2), pack(&least, 2), "{digits:?}");
                let turned = least_turn(pack::<u128, u64>(&keys, 16), length as u32, 16);
                assert_eq!(turned, pack(&least, 16), "{digits:?}");
            }
        }
    }
}
