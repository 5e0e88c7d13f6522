//! The representative under a small group of any structure, by sums over the parts of a state.
//!
//! The elements of the group are listed. A chain of points, each with the stabiliser of those before it, divides them
//! into cosets, which form a tree. To the orbits of each stabiliser belong random numbers, and the sum of these numbers
//! over the points of an image is the same for all elements of a coset. The representative is the image with the least
//! sums, level by level, and among those the least one. So only the cosets with least sums are visited, usually one at
//! each level. Sums only select among images; which images are equal is decided by comparing them.
//!
//! The sums of the first level, with the most cosets, are kept for a representative: those of a successor differ by the
//! few points that a step changed.

use quotient_groups::{OrbitPartition, Point, SparsePermutation};

use crate::elements::CodeMap;
use crate::points::{Content, NONE, View};

/// The largest number of weights of all cosets.
const MOST_WEIGHTS: usize = 1 << 22;
/// The number of elements that are told apart at once.
const AT_ONCE: usize = 12;
/// The number of points that a step changes, as a rule.
const MOST_CHANGED: usize = 4;
/// The number of sums that are added at once.
const LANES: usize = 4;

/// A small group, and the weights of points in its cosets.
#[derive(Clone, Debug)]
pub(crate) struct Invariants {
    elements: Vec<CodeMap>,
    /// The image of each point under each element, one element after the other.
    images: Vec<Point>,
    points: usize,
    levels: Vec<Level>,
    /// The places of fields in a state, if their codes are stored as they are.
    fields: Option<Fields>,
    /// For each field whether it is a point with its code attached, and the number of fields that are not.
    is_plain: Vec<bool>,
    lettered: usize,
}

/// The cosets of a stabiliser. They are numbered so that those in a coset of the level before are consecutive.
#[derive(Clone, Debug)]
struct Level {
    /// The number of cosets in a coset of the level before, and this number with padding.
    arity: usize,
    padded: usize,
    /// For each coset of the level before and each point, its weights in the cosets of this level.
    weights: Vec<u32>,
}

/// A point of a state, the factor of its weights, and the code that comes with it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    point: Point,
    factor: u32,
    code: u64,
}

/// Where fields lie in a state, if their codes are stored as they are.
#[derive(Clone, Debug)]
struct Fields {
    /// The word and the first bit of each field.
    places: Vec<(u32, u32)>,
    words: Vec<FieldWord>,
}

/// The fields in one word.
#[derive(Clone, Debug)]
struct FieldWord {
    word: usize,
    mask: u64,
    /// The field of each bit, and the bits of this field.
    field_of: Box<[(u16, u64); 64]>,
}

impl Fields {
    /// The places of the fields of a view.
    fn new(view: &View) -> Option<Self> {
        if view.fields.len() > usize::from(u16::MAX) || view.fields.iter().any(|field| !field.is_direct()) {
            return None;
        }
        let mut words: Vec<FieldWord> = Vec::new();
        for (number, field) in view.fields.iter().enumerate() {
            let bits = field.mask << field.shift;
            let position = words.iter().position(|known| known.word == field.word as usize).unwrap_or_else(|| {
                words.push(FieldWord { word: field.word as usize, mask: 0, field_of: Box::new([(0, 0); 64]) });
                words.len() - 1
            });
            words[position].mask |= bits;
            let entries = words[position].field_of.iter_mut().enumerate();
            entries.filter(|(bit, _)| bits >> bit & 1 == 1).for_each(|(_, entry)| *entry = (number as u16, bits));
        }
        let places = view.fields.iter().map(|field| (field.word, field.shift)).collect();
        Some(Self { places, words })
    }

    /// Calls back for each field in which two states differ.
    #[inline]
    fn for_each_difference(&self, before: &[u64], state: &[u64], mut visit: impl FnMut(usize)) {
        for FieldWord { word, mask, field_of } in &self.words {
            let mut difference = (before[*word] ^ state[*word]) & mask;
            while difference != 0 {
                let (field, bits) = field_of[difference.trailing_zeros() as usize];
                difference &= !bits;
                visit(field as usize);
            }
        }
    }

    /// Makes all codes zero.
    #[inline]
    fn clear(&self, state: &mut [u64]) {
        self.words.iter().for_each(|word| state[word.word] &= !word.mask);
    }

    /// Writes the code of a field that is zero.
    #[inline]
    fn add(&self, field: usize, code: u64, state: &mut [u64]) {
        let (word, shift) = self.places[field];
        state[word as usize] |= code << shift;
    }
}

/// Working memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct InvariantScratch {
    codes: Vec<u64>,
    image: Vec<u64>,
    best: Vec<u64>,
    entries: Vec<Entry>,
    sums: Vec<u32>,
    /// The cosets with least sums, at one level and the next.
    cosets: Vec<u32>,
    next: Vec<u32>,
    /// A state that others are near to: its codes, the entry of each field, its entries and sums.
    before: Before,
    /// The weights added so far, several at once.
    pub(crate) work: u64,
}

#[derive(Clone, Debug, Default)]
struct Before {
    lettered: usize,
    entry_of: Vec<u32>,
    entries: Vec<Entry>,
    sums: Vec<u32>,
}

fn mixed(number: u64) -> u64 {
    let product = (number ^ number >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let product = (product ^ product >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    product ^ product >> 32
}

/// The factor of the weights of a point with a code. Nothing is added for zero.
#[inline]
fn factor(code: u64) -> u32 {
    if code < 2 { code as u32 } else { mixed(code) as u32 | 1 }
}

#[inline]
fn add(sums: &mut [u32], weights: &[u32], factor: u32) {
    if factor == 1 {
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = sum.wrapping_add(*weight));
    } else {
        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = sum.wrapping_add(weight.wrapping_mul(factor)));
    }
}

impl Invariants {
    /// The plan for a group with the given elements, the identity among them; `None` if there are too many weights.
    pub(crate) fn new(view: &View, permutations: &[SparsePermutation]) -> Option<Self> {
        let points = view.origins.len();
        if permutations.len().checked_mul(points).is_none_or(|size| size > MOST_WEIGHTS / 4) {
            return None;
        }
        let mut images: Vec<Vec<Point>> = permutations
            .iter()
            .map(|element| (0..points as Point).map(|point| element.image(point)).collect())
            .collect();
        // The stabiliser of each beginning of the chain, and its orbits.
        let mut stabiliser: Vec<usize> = (0..images.len()).collect();
        let mut base: Vec<Point> = Vec::new();
        // For some lengths of the chain, the orbits of the stabiliser.
        let mut orbits: Vec<(usize, Vec<Point>)> = Vec::new();
        let mut before = 0;
        loop {
            let mut partition = OrbitPartition::new(points);
            for &element in &stabiliser {
                for (point, &image) in images[element].iter().enumerate() {
                    partition.merge(point as Point, image);
                }
            }
            let is_last = stabiliser.len() == 1;
            if !base.is_empty() && (is_last || before > AT_ONCE) {
                orbits.push((base.len(), (0..points as Point).map(|point| partition.find(point)).collect()));
            }
            if is_last {
                break;
            }
            before = stabiliser.len();
            let next =
                (0..points as Point).max_by_key(|&point| (partition.class_size(point), std::cmp::Reverse(point)))?;
            stabiliser.retain(|&element| images[element][next as usize] == next);
            base.push(next);
        }
        // Elements in the order of what they map to the points of the chain: cosets are consecutive.
        let sources = |image: &Vec<Point>| -> Vec<Point> {
            let source = |base: &Point| image.iter().position(|image| image == base).unwrap_or(0) as Point;
            base.iter().map(source).collect()
        };
        let mut ordered: Vec<(Vec<Point>, usize)> =
            images.iter().enumerate().map(|(number, image)| (sources(image), number)).collect();
        ordered.sort_unstable();
        let elements = ordered.iter().map(|&(_, number)| CodeMap::new(view, &permutations[number])).collect();
        images = ordered.iter().map(|&(_, number)| images[number].clone()).collect();
        let mut levels = Vec::new();
        let (mut parents, mut total) = (1, 0);
        for (length, orbits) in &orbits {
            let mut cosets: Vec<&[Point]> = ordered.iter().map(|(sources, _)| &sources[..*length]).collect();
            cosets.dedup();
            let arity = cosets.len() / parents;
            if arity * parents != cosets.len() {
                return None;
            }
            let padded = arity.next_multiple_of(LANES);
            total += parents * points * padded;
            if total > MOST_WEIGHTS {
                return None;
            }
            let mut weights = vec![0; parents * points * padded];
            let size = images.len() / cosets.len();
            for (coset, image) in images.iter().step_by(size).enumerate() {
                let (parent, child) = (coset / arity, coset % arity);
                for point in 0..points {
                    let orbit = orbits[image[point] as usize];
                    let weight = mixed((*length as u64) << 32 | u64::from(orbit)) as u32;
                    weights[(parent * points + point) * padded + child] = weight;
                }
            }
            levels.push(Level { arity, padded, weights });
            parents = cosets.len();
        }
        let is_plain: Vec<bool> = view.contents.iter().map(|content| matches!(content, Content::Plain(_))).collect();
        let lettered = is_plain.iter().filter(|&&is_plain| !is_plain).count();
        let images = images.into_iter().flatten().collect();
        Some(Self { elements, images, points, levels, fields: Fields::new(view), is_plain, lettered })
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// The entry of a field with a code, if there is something to add.
    #[inline]
    fn entry(&self, view: &View, field: usize, code: u64) -> Option<Entry> {
        let point = view.contents[field].point(code);
        let factor = if self.is_plain[field] { factor(code) } else { 1 };
        (point != NONE && factor != 0).then_some(Entry { point, factor, code })
    }

    /// Reads the entries of a state. Returns the number of those of fields without attached codes.
    fn read(&self, view: &View, state: &[u64], entries: &mut Vec<Entry>) -> usize {
        entries.clear();
        let mut lettered = 0;
        for (field, place) in view.fields.iter().enumerate() {
            if let Some(entry) = self.entry(view, field, place.read(state)) {
                entries.push(entry);
                lettered += usize::from(!self.is_plain[field]);
            }
        }
        lettered
    }

    /// The sums of the first level.
    fn sum(&self, entries: &[Entry], sums: &mut Vec<u32>) {
        let Some(level) = self.levels.first() else { return };
        sums.clear();
        sums.resize(level.padded, 0);
        for entry in entries {
            add(sums, &level.weights[entry.point as usize * level.padded..][..level.padded], entry.factor);
        }
    }

    /// Finds the elements whose images have the least sums, given those of the first level.
    #[inline]
    fn select(&self, entries: &[Entry], scratch: &mut InvariantScratch) {
        let InvariantScratch { sums, cosets, next, work, .. } = scratch;
        cosets.clear();
        if self.levels.is_empty() {
            cosets.push(0);
            return;
        }
        for (number, level) in self.levels.iter().enumerate() {
            next.clear();
            let mut least = u32::MAX;
            let mut keep = |sums: &[u32], parent: u32| {
                let own = sums.iter().copied().min().unwrap_or(u32::MAX);
                if own > least {
                    return;
                }
                if own < least {
                    least = own;
                    next.clear();
                }
                let first = parent * level.arity as u32;
                next.extend((first..).zip(sums).filter(|&(_, &sum)| sum == own).map(|(coset, _)| coset));
            };
            if number == 0 {
                keep(&sums[..level.arity], 0);
            } else {
                for &parent in cosets.iter() {
                    *work += (entries.len() * level.padded / LANES) as u64;
                    let weights = &level.weights[parent as usize * self.points * level.padded..];
                    if level.padded == LANES {
                        let mut own = [0u32; LANES];
                        for entry in entries {
                            add(&mut own, &weights[entry.point as usize * LANES..][..LANES], entry.factor);
                        }
                        keep(&own[..level.arity], parent);
                    } else {
                        sums.clear();
                        sums.resize(level.padded, 0);
                        for entry in entries {
                            let row = &weights[entry.point as usize * level.padded..][..level.padded];
                            add(sums, row, entry.factor);
                        }
                        keep(&sums[..level.arity], parent);
                    }
                }
            }
            std::mem::swap(cosets, next);
        }
    }

    /// Replaces a state by the image that was selected. Returns the number of elements that lead to it. `entries` are
    /// those of the state, `lettered` of them of fields without attached codes.
    #[inline]
    fn take(
        &self,
        view: &View,
        state: &mut [u64],
        (entries, lettered): (&[Entry], usize),
        scratch: &mut InvariantScratch,
    ) -> usize {
        let InvariantScratch { codes, image, best, cosets, .. } = scratch;
        // Entries tell the whole state unless a field has a code that no element changes.
        if let (&[element], Some(fields)) = (&cosets[..], &self.fields)
            && lettered == self.lettered
        {
            fields.clear(state);
            let images = &self.images[element as usize * self.points..][..self.points];
            for entry in entries {
                let (field, letter) = view.origins[images[entry.point as usize] as usize];
                let code = if self.is_plain[field as usize] { entry.code } else { letter };
                fields.add(field as usize, code, state);
            }
            return 1;
        }
        view.read(state, codes);
        let mut count = 0;
        for &element in cosets.iter() {
            self.elements[element as usize].apply(codes, image);
            if count == 0 || *image < *best {
                std::mem::swap(image, best);
                count = 1;
            } else if *image == *best {
                count += 1;
            }
        }
        view.write(best, state);
        count
    }

    /// Replaces a state by its representative; returns the number of elements that lead to it.
    pub(crate) fn canonicalize(&self, view: &View, state: &mut [u64], scratch: &mut InvariantScratch) -> usize {
        let mut entries = std::mem::take(&mut scratch.entries);
        let lettered = self.read(view, state, &mut entries);
        self.sum(&entries, &mut scratch.sums);
        // For successors, only what changed is added.
        let added = entries.len().min(MOST_CHANGED);
        scratch.work += (added * self.levels.first().map_or(0, |level| level.padded) / LANES) as u64;
        self.select(&entries, scratch);
        let count = self.take(view, state, (&entries, lettered), scratch);
        scratch.entries = entries;
        count
    }

    /// Replaces states by their representatives. `before` is a state that they differ little from.
    pub(crate) fn canonicalize_all<'s>(
        &self,
        view: &View,
        before: Option<&[u64]>,
        states: impl Iterator<Item = &'s mut [u64]>,
        scratch: &mut InvariantScratch,
    ) {
        let (Some(before), Some(fields), Some(level)) = (before, &self.fields, self.levels.first()) else {
            return states.for_each(|state| {
                self.canonicalize(view, state, scratch);
            });
        };
        let mut read = std::mem::take(&mut scratch.before);
        read.entries.clear();
        read.entry_of.clear();
        read.lettered = 0;
        for (field, place) in view.fields.iter().enumerate() {
            match self.entry(view, field, place.read(before)) {
                None => read.entry_of.push(u32::MAX),
                Some(entry) => {
                    read.lettered += usize::from(!self.is_plain[field]);
                    read.entry_of.push(read.entries.len() as u32);
                    read.entries.push(entry);
                }
            }
        }
        self.sum(&read.entries, &mut read.sums);
        let row = |point: Point| &level.weights[point as usize * level.padded..][..level.padded];
        let mut entries = std::mem::take(&mut scratch.entries);
        for state in states {
            entries.clone_from(&read.entries);
            scratch.sums.clone_from(&read.sums);
            let mut lettered = read.lettered;
            fields.for_each_difference(before, state, |field| {
                let now = self.entry(view, field, view.fields[field].read(state));
                let known = read.entry_of[field];
                if !self.is_plain[field] {
                    lettered = lettered + usize::from(now.is_some()) - usize::from(known != u32::MAX);
                }
                if let Some(entry) = entries.get_mut(known as usize) {
                    add(&mut scratch.sums, row(entry.point), entry.factor.wrapping_neg());
                    *entry = now.unwrap_or(Entry { factor: 0, code: 0, ..*entry });
                } else if let Some(now) = now {
                    entries.push(now);
                }
                if let Some(now) = now {
                    add(&mut scratch.sums, row(now.point), now.factor);
                }
            });
            self.select(&entries, scratch);
            self.take(view, state, (&entries, lettered), scratch);
        }
        (scratch.entries, scratch.before) = (entries, read);
    }
}
