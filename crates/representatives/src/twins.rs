//! Successors that are alike because objects of the state before are: if two objects are in no tuple and hold the same,
//! exchanging them does not change that state, so steps that differ in nothing but which of the two they are about lead to
//! states of one orbit. Of many such successors, one representative is found (the symbolic firing of Chiola, Dutheillet,
//! Franceschinis and Haddad 1993, on states).
//!
//! A successor is described by the bits in which it differs from the state before: what they belong to, with objects that
//! have twins by their class and by the order of their first mention. Equal descriptions are equal up to an exchange of
//! twins. Different descriptions may be equal, too; then a representative is found again.

use rustc_hash::FxHashMap;

use crate::points::{Content, View};

/// With fewer objects it does not pay.
const FEW: usize = 16;
/// The class of an object without twins.
const ALONE: u32 = u32::MAX;
/// A state that differs in more bits than this begins anew.
const NEAR: u32 = 64;
/// The most descriptions that are kept.
const MOST_KNOWN: usize = 1 << 12;
/// Not an entry.
const NONE: u32 = u32::MAX;

/// What the bits of a state belong to.
#[derive(Clone, Debug)]
pub(crate) struct Twins {
    /// For each bit of a state, its entry below.
    of_bit: Vec<u32>,
    /// The role of each field, and its objects.
    entries: Vec<(u32, Vec<u16>)>,
    /// The first bit of each field.
    first_bits: Vec<u32>,
    /// For each object, the fields that it has alone, by role.
    own: Vec<Vec<u32>>,
    /// For each word of a state, the bits of fields with several objects.
    shared: Vec<u64>,
    /// The kind of each object.
    kinds: Vec<u16>,
}

/// Working memory: what is known about the successors of one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct TwinScratch {
    before: Vec<u64>,
    classes: Vec<u32>,
    /// The representative for each description.
    known: FxHashMap<Vec<u64>, Vec<u64>>,
    description: Vec<u64>,
    mentioned: Vec<u16>,
}

impl Twins {
    /// For a view in which every field is a point, with its role and its objects. None if this is not so, or does not pay.
    pub(crate) fn new(view: &View, kinds: &[u16], point: impl Fn(u32) -> (usize, Vec<u16>)) -> Option<Self> {
        if kinds.len() < FEW || !view.fields.iter().all(|field| field.is_direct()) {
            return None;
        }
        let words = view.fields.iter().map(|field| field.word as usize + 1).max()?;
        let mut twins = Self {
            of_bit: vec![NONE; 64 * words],
            entries: Vec::new(),
            first_bits: Vec::new(),
            own: vec![Vec::new(); kinds.len()],
            shared: vec![0; words],
            kinds: kinds.to_vec(),
        };
        let mut own: Vec<Vec<(usize, u32)>> = vec![Vec::new(); kinds.len()];
        for (number, (field, content)) in view.fields.iter().zip(&view.contents).enumerate() {
            let Content::Plain(at) = content else { return None };
            let (role, objects) = point(*at);
            let first = 64 * field.word + field.shift;
            (first..first + field.width).for_each(|bit| twins.of_bit[bit as usize] = number as u32);
            match &objects[..] {
                [only] => own[usize::from(*only)].push((role, number as u32)),
                _ => twins.shared[field.word as usize] |= field.mask << field.shift,
            }
            twins.entries.push((role as u32, objects));
            twins.first_bits.push(first);
        }
        for (object, mut fields) in own.into_iter().enumerate() {
            fields.sort_unstable();
            // Twins are compared field by field: no role may occur twice.
            if fields.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return None;
            }
            twins.own[object] = fields.into_iter().map(|(_, field)| field).collect();
        }
        Some(twins)
    }

    /// Replaces a state by what `canonicalize` makes of it, or of a state that twins make the same. It is compared with the
    /// state `before`; if none is given, with the first of those that differ little from each other.
    pub(crate) fn canonicalize(
        &self,
        view: &View,
        before: Option<&[u64]>,
        state: &mut [u64],
        scratch: &mut TwinScratch,
        canonicalize: impl FnOnce(&mut [u64]),
    ) {
        match before {
            Some(before) if scratch.before == before => {}
            Some(before) => self.read(view, before, scratch),
            None => {
                let differing = |(now, then): (&u64, &u64)| (now ^ then).count_ones();
                let is_near = scratch.before.len() == state.len()
                    && state.iter().zip(&scratch.before).map(differing).sum::<u32>() <= NEAR;
                if !is_near || scratch.known.len() >= MOST_KNOWN {
                    self.read(view, state, scratch);
                }
            }
        }
        self.describe(state, scratch);
        if let Some(known) = scratch.known.get(&scratch.description) {
            state.copy_from_slice(known);
            return;
        }
        canonicalize(state);
        scratch.known.insert(scratch.description.clone(), state.to_vec());
    }

    /// Finds the twins of a state.
    fn read(&self, view: &View, before: &[u64], scratch: &mut TwinScratch) {
        scratch.before.clear();
        scratch.before.extend_from_slice(before);
        scratch.known.clear();
        scratch.classes.clear();
        scratch.classes.resize(self.kinds.len(), 0);
        for (word, &shared) in self.shared.iter().enumerate() {
            let mut bits = before[word] & shared;
            while bits != 0 {
                let bit = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                for &object in &self.entries[self.of_bit[bit] as usize].1 {
                    scratch.classes[usize::from(object)] = ALONE;
                }
            }
        }
        let mut rows: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
        for (object, fields) in self.own.iter().enumerate() {
            if scratch.classes[object] == ALONE {
                continue;
            }
            let codes = fields.iter().map(|&field| view.fields[field as usize].read(before));
            let row = std::iter::once(u64::from(self.kinds[object])).chain(codes).collect();
            let next = rows.len() as u32;
            scratch.classes[object] = *rows.entry(row).or_insert(next);
        }
    }

    /// Describes a successor.
    fn describe(&self, state: &[u64], scratch: &mut TwinScratch) {
        let TwinScratch { before, classes, description, mentioned, .. } = scratch;
        description.clear();
        mentioned.clear();
        for (word, (&now, &then)) in state.iter().zip(before.iter()).enumerate() {
            let mut bits = now ^ then;
            while bits != 0 {
                let bit = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let entry = self.of_bit.get(bit).copied().unwrap_or(NONE);
                if entry == NONE {
                    // A bit that no symmetry moves.
                    description.push(u64::MAX - bit as u64);
                    continue;
                }
                let (role, objects) = &self.entries[entry as usize];
                let offset = bit as u64 - u64::from(self.first_bits[entry as usize]);
                description.push(u64::from(*role) << 8 | offset);
                for &object in objects {
                    let class = classes[usize::from(object)];
                    if class == ALONE {
                        description.push(1 << 63 | u64::from(object));
                        continue;
                    }
                    let position = mentioned.iter().position(|&known| known == object).unwrap_or_else(|| {
                        mentioned.push(object);
                        mentioned.len() - 1
                    });
                    description.push(u64::from(class) << 16 | position as u64);
                }
            }
        }
    }
}
