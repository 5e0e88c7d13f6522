//! Representatives: one state for each orbit of a certified group.
//!
//! The group G is taken apart into a subgroup N that is a product of full symmetric groups on
//! interchangeable parts (`interchange`), for which sorting gives a least image, and the cosets of N
//! in G, which are enumerated. The orbit of a state s is the union of the N-orbits of t·s over the
//! coset representatives t, so the least of the N-representatives of all t·s is the same for every
//! state of the orbit, and different for different orbits.

mod interchange;
mod orbit;
mod paths;
mod strategy;

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use quotient_groups::{Point, SparsePermutation};
use quotient_ir::{Layout, Model, SlotId};

use crate::certify::CertifiedGroup;
use crate::literals::{Literals, StateMap};
use interchange::{Interchange, Sorter};
use orbit::Orbits;
pub use strategy::{Strategy, Unsupported};

/// Cosets up to which they are enumerated.
const COSET_LIMIT: usize = 10_000;

/// Gives each state the representative of its orbit.
#[derive(Clone, Debug)]
pub struct Canonicalizer {
    fields: Vec<CodeField>,
    interchanges: Vec<Interchange>,
    cosets: Vec<CodeMap>,
    order: BigUint,
    reason: String,
    strategy: Strategy,
    orbits: Orbits,
}

/// The memory of one run of a canonicalizer.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    original: Vec<u64>,
    image: Vec<u64>,
    best: Vec<u64>,
    sorter: Sorter,
}

/// Where the stored code of a slot is in a packed state.
#[derive(Clone, Copy, Debug)]
struct CodeField {
    slot: SlotId,
    word: usize,
    shift: u32,
    mask: u64,
}

/// A map of states, on the codes of the fields: where each field's code comes from, and what
/// becomes of it.
#[derive(Clone, Debug)]
struct CodeMap {
    sources: Vec<u32>,
    codes: Vec<Option<Box<[u64]>>>,
}

impl Canonicalizer {
    /// The canonicalizer of a group.
    ///
    /// # Errors
    /// If the group is beyond its methods.
    pub fn new(model: &Model, layout: &Layout, group: &CertifiedGroup) -> Result<Self, Unsupported> {
        let literals = group.literals();
        let mut moved: Vec<SlotId> = Vec::new();
        for map in group.maps() {
            for slot_move in map.moves() {
                moved.extend([slot_move.from, slot_move.to]);
            }
        }
        moved.sort_unstable();
        moved.dedup();
        let fields: Vec<CodeField> = moved
            .iter()
            .map(|&slot| {
                let entry = &layout.slots[slot];
                let mask = if entry.width >= 64 { u64::MAX } else { (1 << entry.width) - 1 };
                CodeField { slot, word: entry.bit as usize / 64, shift: entry.bit % 64, mask }
            })
            .collect();
        let field_of: FxHashMap<SlotId, u32> =
            fields.iter().enumerate().map(|(field, entry)| (entry.slot, field as u32)).collect();
        let interchanges = interchange::find(model, layout, group, &field_of);
        let representatives = coset_representatives(literals, group.generators(), &interchanges)?;
        let mut order = BigUint::from(representatives.len());
        for interchange in &interchanges {
            order *= interchange.order();
        }
        let cosets: Vec<CodeMap> = representatives
            .iter()
            .map(|permutation| {
                let map = literals.action(layout, permutation).expect("products of symmetries act on states");
                CodeMap::new(layout, literals, &map, &fields, &field_of)
            })
            .collect();
        let reason = describe(&interchanges, cosets.len());
        let orbits = Orbits::new(layout, group, &fields, &field_of);
        Ok(Self { fields, interchanges, cosets, order, reason, strategy: Strategy::Canonical, orbits })
    }

    /// The canonicalizer of a group by a chosen method.
    ///
    /// # Errors
    /// If the group is beyond the method.
    pub fn with_strategy(
        model: &Model,
        layout: &Layout,
        group: &CertifiedGroup,
        strategy: Strategy,
    ) -> Result<Self, Unsupported> {
        let mut canonicalizer = Self::new(model, layout, group)?;
        canonicalizer.strategy = strategy;
        match strategy {
            Strategy::Canonical | Strategy::Sorted | Strategy::Segmented => {}
            Strategy::LocalSearch => {
                canonicalizer.reason = format!(
                    "local search: the {} generators are applied for as long as one makes the state less",
                    group.generators().len()
                );
            }
            Strategy::Flooding => canonicalizer.reason = "the least state of the whole orbit, enumerated".to_owned(),
        }
        Ok(canonicalizer)
    }

    /// The method.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Whether every orbit has exactly one representative.
    pub fn is_exact(&self) -> bool {
        !matches!(self.strategy, Strategy::LocalSearch)
    }

    /// The order of the group.
    pub fn order(&self) -> &BigUint {
        &self.order
    }

    /// How representatives are found, for people.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Replaces a packed state by the representative of its orbit.
    pub fn canonicalize(&self, workspace: &mut Workspace, state: &mut [u64]) {
        let Workspace { original, image, best, sorter } = workspace;
        original.clear();
        original.extend(self.fields.iter().map(|field| state[field.word] >> field.shift & field.mask));
        match self.strategy {
            Strategy::Canonical | Strategy::Sorted | Strategy::Segmented => {}
            Strategy::LocalSearch => {
                self.orbits.descend(original, image);
                return self.write(original, state);
            }
            Strategy::Flooding => {
                self.orbits.least(original);
                return self.write(original, state);
            }
        }
        if let [only] = &self.interchanges[..]
            && self.cosets.len() == 1
        {
            if only.sort(original, sorter) {
                self.write(original, state);
            }
            return;
        }
        if self.interchanges.is_empty() {
            // The identity comes first, so that the best so far is always an image.
            best.clear();
            best.extend_from_slice(original);
            for map in &self.cosets[1..] {
                map.keep_least(original, best);
            }
        } else {
            for (number, map) in self.cosets.iter().enumerate() {
                map.apply(original, image);
                for interchange in &self.interchanges {
                    interchange.sort(image, sorter);
                }
                if number == 0 || *image < *best {
                    std::mem::swap(image, best);
                }
            }
        }
        if best != original {
            self.write(best, state);
        }
    }

    /// Replaces a packed state by the representative of its orbit and gives a symmetry that takes the
    /// state there, as a permutation of the literals. Meant for few states: it costs more than the
    /// representative alone.
    pub fn canonicalize_with_witness(&self, workspace: &mut Workspace, state: &mut [u64]) -> SparsePermutation {
        let read = |state: &[u64]| -> Vec<u64> {
            self.fields.iter().map(|field| state[field.word] >> field.shift & field.mask).collect()
        };
        let before = read(state);
        self.canonicalize(workspace, state);
        self.orbits.path(&before, &read(state)).expect("the representative is in the orbit")
    }

    /// How many states a stored representative stands for, if that is known: where an orbit may have
    /// several representatives, sizes of orbits do not add up.
    pub fn represented(&self, workspace: &mut Workspace, state: &[u64]) -> Option<BigUint> {
        self.is_exact().then(|| self.orbit_size(workspace, state))
    }

    /// How many states the orbit of a state has.
    pub fn orbit_size(&self, workspace: &mut Workspace, state: &[u64]) -> BigUint {
        let original: Vec<u64> =
            self.fields.iter().map(|field| state[field.word] >> field.shift & field.mask).collect();
        if self.interchanges.is_empty() {
            // All elements are listed: the orbit is as large as the group over the stabiliser.
            let idle = self.cosets.iter().filter(|map| map.keeps(&original)).count();
            return BigUint::from(self.cosets.len() / idle);
        }
        let mut images: FxHashMap<Vec<u64>, BigUint> = FxHashMap::default();
        let mut image = Vec::new();
        for map in &self.cosets {
            map.apply(&original, &mut image);
            let mut size = BigUint::from(1u32);
            for interchange in &self.interchanges {
                size *= interchange.orbit_size(&mut image, &mut workspace.sorter);
            }
            images.insert(image.clone(), size);
        }
        images.into_values().sum()
    }

    fn write(&self, codes: &[u64], state: &mut [u64]) {
        for (field, &code) in self.fields.iter().zip(codes) {
            let word = &mut state[field.word];
            *word = *word & !(field.mask << field.shift) | code << field.shift;
        }
    }
}

impl CodeMap {
    fn new(
        layout: &Layout,
        literals: &Literals,
        map: &StateMap,
        fields: &[CodeField],
        field_of: &FxHashMap<SlotId, u32>,
    ) -> Self {
        let mut sources: Vec<u32> = (0..fields.len() as u32).collect();
        let mut codes: Vec<Option<Box<[u64]>>> = vec![None; fields.len()];
        for slot_move in map.moves() {
            let target = field_of[&slot_move.to] as usize;
            sources[target] = field_of[&slot_move.from];
            let (from, to) = (&layout.slots[slot_move.from], &layout.slots[slot_move.to]);
            let possible = &literals.slots()[slot_move.from];
            let stored = |slot: &quotient_ir::Slot, value| slot.stored(value).expect("a possible value has a code");
            if possible.wide {
                continue;
            }
            let pairs: Vec<(u64, u64)> = possible
                .values
                .iter()
                .map(|&value| (stored(from, value), stored(to, slot_move.value(value))))
                .collect();
            if pairs.iter().any(|(before, after)| before != after) {
                let size = pairs.iter().map(|&(before, _)| before as usize + 1).max().unwrap_or(0);
                let mut table: Vec<u64> = (0..size as u64).collect();
                for (before, after) in pairs {
                    table[before as usize] = after;
                }
                codes[target] = Some(table.into_boxed_slice());
            }
        }
        Self { sources, codes }
    }

    #[inline]
    fn code(&self, field: usize, original: &[u64]) -> u64 {
        let code = original[self.sources[field] as usize];
        match &self.codes[field] {
            None => code,
            Some(table) => table[code as usize],
        }
    }

    fn apply(&self, original: &[u64], image: &mut Vec<u64>) {
        image.clear();
        image.extend((0..original.len()).map(|field| self.code(field, original)));
    }

    /// Whether the image of `original` is `original`.
    fn keeps(&self, original: &[u64]) -> bool {
        (0..original.len()).all(|field| self.code(field, original) == original[field])
    }

    /// Replaces `best` by the image of `original` if that is less; stops where it is greater.
    #[inline]
    fn keep_least(&self, original: &[u64], best: &mut [u64]) {
        for field in 0..best.len() {
            let code = self.code(field, original);
            if code > best[field] {
                return;
            }
            if code < best[field] {
                for (field, best) in best.iter_mut().enumerate().skip(field) {
                    *best = self.code(field, original);
                }
                return;
            }
        }
    }
}

/// One element of each coset N·t of the interchanges' product N in the group, the identity first.
fn coset_representatives(
    literals: &Literals,
    generators: &[SparsePermutation],
    interchanges: &[Interchange],
) -> Result<Vec<SparsePermutation>, Unsupported> {
    let mut orbits = interchange::orbits(literals.degree(), interchanges);
    let mut representatives = vec![SparsePermutation::identity()];
    let mut known: FxHashMap<Vec<Point>, Vec<usize>> = FxHashMap::default();
    known.insert(interchange::coset_key(&mut orbits, &representatives[0]), vec![0]);
    let mut next = 0;
    while next < representatives.len() {
        for generator in generators {
            // A generator before t maps cosets to cosets, since N comes after t.
            let candidate = generator.then(&representatives[next]);
            let same_key = known.entry(interchange::coset_key(&mut orbits, &candidate)).or_default();
            let found = same_key.iter().any(|&number: &usize| {
                let difference = representatives[number].inverse().then(&candidate);
                interchange::contains(interchanges, &difference)
            });
            if !found {
                if representatives.len() == COSET_LIMIT {
                    return Err(Unsupported::TooManyCosets { limit: COSET_LIMIT });
                }
                same_key.push(representatives.len());
                representatives.push(candidate);
            }
        }
        next += 1;
    }
    Ok(representatives)
}

fn describe(interchanges: &[Interchange], cosets: usize) -> String {
    let mut parts: Vec<String> =
        interchanges.iter().map(|interchange| format!("sorting {}", interchange.description())).collect();
    match (parts.is_empty(), cosets) {
        (_, 1) => {}
        (true, _) => parts.push(format!("the least of {cosets} images")),
        (false, _) => parts.push(format!("the least over {cosets} cosets")),
    }
    if parts.is_empty() { "nothing to reduce".to_owned() } else { parts.join(", ") }
}
