//! Traversal of orbits by generators: flooding and local search.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::elements::CodeMap;
use crate::points::View;

/// The generators of a group and their inverses.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    view: View,
    maps: Vec<CodeMap>,
}

/// The number of states of enumerated orbits that are remembered with their least state.
const REMEMBERED: usize = 1 << 21;

/// Working memory for traversals.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkScratch {
    codes: Vec<u64>,
    image: Vec<u64>,
    /// The least state of each enumerated orbit, by its states. An orbit is met once for every step that leads into it;
    /// like ProB, we enumerate it only once.
    least: FxHashMap<Box<[u64]>, Arc<[u64]>>,
}

impl Walk {
    pub(crate) fn new(view: &View) -> Self {
        let mut permutations = view.action.generators().to_vec();
        for generator in view.action.generators() {
            let inverse = generator.inverse();
            if inverse != *generator {
                permutations.push(inverse);
            }
        }
        Self { view: view.clone(), maps: permutations.iter().map(|element| CodeMap::new(view, element)).collect() }
    }

    /// Applies generators as long as one of them makes the codes smaller.
    pub(crate) fn descend(&self, state: &mut [u64], scratch: &mut WalkScratch) {
        let WalkScratch { codes, image, .. } = scratch;
        self.view.read(state, codes);
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
        self.view.write(codes, state);
    }

    /// All images of a state, in increasing order.
    pub(crate) fn flood(&self, state: &[u64]) -> Vec<Vec<u64>> {
        let mut codes = Vec::new();
        self.view.read(state, &mut codes);
        let mut known: FxHashSet<Vec<u64>> = FxHashSet::default();
        known.insert(codes.clone());
        let mut pending = vec![codes];
        let mut image = Vec::new();
        while let Some(next) = pending.pop() {
            for map in &self.maps {
                map.apply(&next, &mut image);
                if !known.contains(&image) {
                    known.insert(image.clone());
                    pending.push(image.clone());
                }
            }
        }
        let mut images: Vec<Vec<u64>> = known.into_iter().collect();
        images.sort_unstable();
        images
    }

    /// Replaces a state by the least of its orbit.
    pub(crate) fn take_least(&self, state: &mut [u64], scratch: &mut WalkScratch) {
        self.view.read(state, &mut scratch.codes);
        if let Some(least) = scratch.least.get(scratch.codes.as_slice()) {
            self.view.write(least, state);
            return;
        }
        let images = self.flood(state);
        self.view.write(&images[0], state);
        if scratch.least.len() + images.len() > REMEMBERED {
            scratch.least.clear();
        }
        let least: Arc<[u64]> = images[0].as_slice().into();
        scratch.least.extend(images.into_iter().map(|image| (image.into_boxed_slice(), Arc::clone(&least))));
    }
}
