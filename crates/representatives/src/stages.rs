//! Two stages instead of labelling: first the objects that others hold, then those that hold them.
//!
//! If the keys of the objects that are held decide their order, their names are fixed, and what holds them becomes plain
//! contents of the others: these are sorted like objects that refer to nothing. Whether keys decide is the same for all
//! states of an orbit, so the states that need labelling are whole orbits.

use quotient_groups::arrangement::NodePosition;
use rustc_hash::FxHashMap;

use crate::cardinality::Cardinality;
use crate::keys::{FEW, KeyPlan};
use crate::near::{Bits, NearPlan, NearScratch};
use crate::points::View;
use crate::rows::RowPlan;

/// The stages of a group of two or more kinds of objects.
#[derive(Clone, Debug)]
pub(crate) struct Stages {
    held: Vec<HeldKind>,
    holding: Vec<HoldingKind>,
    /// What the keys of objects that are held depend on.
    held_bits: Bits,
}

/// A kind of objects that others hold.
#[derive(Clone, Debug)]
struct HeldKind {
    kind: usize,
    plan: KeyPlan,
}

/// A kind of objects that only hold others.
#[derive(Clone, Debug)]
struct HoldingKind {
    rows: RowPlan,
    /// All contents, once what is held has names.
    contents: KeyPlan,
    near: Option<NearPlan>,
}

/// What is known about a kind of objects.
pub(crate) struct KindParts<'a> {
    pub(crate) count: usize,
    pub(crate) plan: Option<&'a KeyPlan>,
    pub(crate) rows: Option<&'a RowPlan>,
}

impl Stages {
    /// The stages, if each kind is held by others or holds others, and few enough.
    pub(crate) fn new(
        view: &View,
        tuples: &[Vec<NodePosition>],
        orbits: &[usize],
        kinds: &[KindParts<'_>],
        kind_of: impl Fn(&NodePosition) -> usize,
    ) -> Option<Self> {
        let mut stages = Self { held: Vec::new(), holding: Vec::new(), held_bits: Bits::default() };
        for (number, kind) in kinds.iter().enumerate() {
            if kind.count > FEW {
                return None;
            }
            let Some(rows) = kind.rows else {
                let plan = kind.plan.filter(|plan| plan.width > 0 && plan.width <= 64)?;
                stages.held_bits.add_keys(plan);
                stages.held.push(HeldKind { kind: number, plan: plan.clone() });
                continue;
            };
            // A point belongs to its owner; what the owner holds is a part of its meaning.
            let own = |point: u32| tuples[point as usize].iter().find(|place| kind_of(place) == number);
            let mut meanings: FxHashMap<(usize, Vec<(usize, usize)>), usize> = FxHashMap::default();
            let mut meaning_of = Vec::with_capacity(tuples.len());
            for (point, tuple) in tuples.iter().enumerate() {
                let others = tuple.iter().filter(|place| kind_of(place) != number);
                let others: Vec<(usize, usize)> = others.map(|place| (kind_of(place), place.node)).collect();
                let next = meanings.len();
                meaning_of.push(*meanings.entry((orbits[point], others)).or_insert(next));
            }
            let contents = KeyPlan::new(
                view,
                kind.count,
                |point| own(point).map(|place| place.node),
                |point| meaning_of[point as usize],
                true,
            )?;
            if contents.width > 128 {
                return None;
            }
            let near = NearPlan::new(&contents);
            stages.holding.push(HoldingKind { rows: rows.clone(), contents, near });
        }
        (!stages.held.is_empty() && !stages.holding.is_empty()).then_some(stages)
    }

    /// Replaces a state by its representative. Returns false, and leaves the state as it is, if keys do not decide.
    #[inline]
    pub(crate) fn canonicalize(&self, state: &mut [u64]) -> bool {
        let Some(is_ordered) = self.is_ordered(state) else { return false };
        if !is_ordered {
            self.rename(state);
        }
        for kind in &self.holding {
            kind.contents.sort_few(state);
        }
        true
    }

    /// Reads a representative, for states that differ little from it. Returns whether that is possible: the objects that
    /// it holds are in order, and there is one kind of objects that hold them.
    pub(crate) fn begin(&self, before: &[u64], scratch: &mut NearScratch) -> bool {
        match &self.holding[..] {
            [HoldingKind { contents, near: Some(near), .. }] => {
                self.is_ordered(before) == Some(true) && near.begin(contents, before, scratch)
            }
            _ => false,
        }
    }

    /// Replaces a state by its representative, like [`Stages::canonicalize`], if it differs little from one that was
    /// read.
    #[inline]
    pub(crate) fn canonicalize_near(&self, before: &[u64], state: &mut [u64], scratch: &mut NearScratch) -> bool {
        let [HoldingKind { contents, near: Some(near), .. }] = &self.holding[..] else { return false };
        // What was read is in order.
        let is_ordered = if self.held_bits.differ(before, state) { self.is_ordered(state) } else { Some(true) };
        match is_ordered {
            Some(true) if near.sort(contents, before, state, scratch) => true,
            Some(_) => self.canonicalize(state),
            None => false,
        }
    }

    /// The number of elements of the group that fix a state, if keys decide.
    pub(crate) fn stabiliser_order(&self, state: &[u64]) -> Option<Cardinality> {
        self.is_ordered(state)?;
        let mut order = Cardinality::ONE;
        for HoldingKind { contents, .. } in &self.holding {
            let mut keys = [0u128; FEW];
            let keys = &mut keys[..contents.count];
            contents.load(state, keys);
            if !keys.is_sorted() {
                keys.sort_unstable();
            }
            order.multiply_orders(keys, |one, other| one == other);
        }
        Some(order)
    }

    /// Whether the objects that are held are in order; `None` if two of them have equal keys.
    #[inline]
    fn is_ordered(&self, state: &[u64]) -> Option<bool> {
        let mut is_ordered = true;
        for HeldKind { plan, .. } in &self.held {
            let mut keys = [0u64; FEW];
            let keys = &mut keys[..plan.count];
            plan.load(state, keys);
            if !keys.is_sorted_by(|one, other| one < other) {
                is_ordered = false;
                keys.sort_unstable();
                if keys.windows(2).any(|pair| pair[0] == pair[1]) {
                    return None;
                }
            }
        }
        Some(is_ordered)
    }

    /// Renames the objects that are held.
    #[cold]
    fn rename(&self, state: &mut [u64]) {
        // The new name of each object of each kind that is held.
        let mut names: Vec<Vec<u64>> = Vec::new();
        let mut ordered: Vec<Vec<u64>> = Vec::new();
        for HeldKind { kind, plan } in &self.held {
            let mut keys = vec![0u64; plan.count];
            plan.load(state, &mut keys);
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            names.resize(names.len().max(kind + 1), Vec::new());
            let name = |key: &u64| sorted.binary_search(key).expect("a key of this kind") as u64;
            names[*kind] = keys.iter().map(name).collect();
            ordered.push(sorted);
        }
        for HoldingKind { rows, contents, .. } in &self.holding {
            for node in 0..contents.count {
                let row = rows.row(node, state, |kind, node| names[kind][node]);
                rows.store(node, row, state);
            }
        }
        for (HeldKind { plan, .. }, keys) in self.held.iter().zip(&ordered) {
            plan.store(keys, state);
        }
    }
}
