//! Orbits walked through by generators: flooding, local search, and the way from one state to another.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use quotient_groups::SparsePermutation;
use quotient_ir::{Layout, SlotId};

use super::{CodeField, CodeMap};
use crate::certify::CertifiedGroup;

/// The generators of a group and their inverses.
#[derive(Clone, Debug)]
pub(super) struct Orbits {
    maps: Vec<CodeMap>,
    permutations: Vec<SparsePermutation>,
}

impl Orbits {
    pub(super) fn new(
        layout: &Layout,
        group: &CertifiedGroup,
        fields: &[CodeField],
        field_of: &FxHashMap<SlotId, u32>,
    ) -> Self {
        let literals = group.literals();
        let mut permutations: Vec<SparsePermutation> = group.generators().to_vec();
        for generator in group.generators() {
            let inverse = generator.inverse();
            if inverse != *generator {
                permutations.push(inverse);
            }
        }
        let maps = permutations.iter().map(|permutation| {
            let map = literals.action(layout, permutation).expect("a generator and its inverse act on states");
            CodeMap::new(layout, literals, &map, fields, field_of)
        });
        Self { maps: maps.collect(), permutations }
    }

    /// Applies generators for as long as one makes the codes less.
    pub(super) fn descend(&self, codes: &mut Vec<u64>, image: &mut Vec<u64>) {
        let mut idle = 0;
        let mut next = 0;
        while idle < self.maps.len() {
            self.maps[next].apply(codes, image);
            if *image < *codes {
                std::mem::swap(codes, image);
                idle = 0;
            } else {
                idle += 1;
            }
            next = (next + 1) % self.maps.len();
        }
    }

    /// Replaces codes by the least of their orbit.
    pub(super) fn least(&self, codes: &mut Vec<u64>) {
        let mut known: FxHashSet<Vec<u64>> = FxHashSet::default();
        known.insert(codes.clone());
        let mut pending = vec![codes.clone()];
        let mut image = Vec::new();
        while let Some(next) = pending.pop() {
            for map in &self.maps {
                map.apply(&next, &mut image);
                if !known.contains(&image) {
                    if image < *codes {
                        codes.clone_from(&image);
                    }
                    known.insert(image.clone());
                    pending.push(image.clone());
                }
            }
        }
    }

    /// A product of generators that takes codes to others, if there is one.
    pub(super) fn path(&self, from: &[u64], to: &[u64]) -> Option<SparsePermutation> {
        let mut arrived_by: FxHashMap<Vec<u64>, Option<usize>> = FxHashMap::default();
        arrived_by.insert(to.to_vec(), None);
        let mut pending = VecDeque::from([to.to_vec()]);
        let mut image = Vec::new();
        // Backwards from the goal, so that the way can be read off from the start.
        while !arrived_by.contains_key(from) {
            let next = pending.pop_front()?;
            for (number, map) in self.maps.iter().enumerate() {
                map.apply(&next, &mut image);
                if !arrived_by.contains_key(&image) {
                    arrived_by.insert(image.clone(), Some(number));
                    pending.push_back(image.clone());
                }
            }
        }
        let mut element = SparsePermutation::identity();
        let mut at = from.to_vec();
        while let Some(Some(number)) = arrived_by.get(&at) {
            let back = self.permutations[*number].inverse();
            let position = self.permutations.iter().position(|other| *other == back)?;
            self.maps[position].apply(&at, &mut image);
            std::mem::swap(&mut at, &mut image);
            element = element.then(&back);
        }
        Some(element)
    }
}
