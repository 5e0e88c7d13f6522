//! Interchangeable objects, possibly nested, sorted by their keys, inner ones first (a wreath product of symmetric
//! groups). This is exact, because siblings can be permuted freely and the key describes an object completely.

use quotient_groups::arrangement::{Arrangement, Nesting};

use crate::cardinality::Cardinality;
use crate::keys::{FEW, Key, KeyPlan, insert};
use crate::near::{NearBlocks, NearPlan, NearScratch};
use crate::points::View;

/// Sorts the objects of a nesting.
#[derive(Clone, Debug)]
pub(crate) struct NestedSort {
    arities: Vec<usize>,
    /// For each level, how to read the own keys of its nodes.
    plans: Vec<KeyPlan>,
    /// For each level, the number of bits of a node's key including everything below it.
    widths: Vec<u32>,
    order: Cardinality,
    /// How successors of sorted states are sorted.
    near: Near,
}

/// How successors of sorted states are sorted.
#[derive(Clone, Debug)]
enum Near {
    /// Like all states.
    No,
    /// One level.
    Flat(NearPlan),
    /// Two levels.
    Blocks(NearBlocks),
}

/// Working memory for sorting.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortScratch {
    narrow: Vec<u64>,
    wide: Vec<u128>,
    tokens: Vec<Vec<u64>>,
    ranks: Vec<Vec<u32>>,
    orders: Vec<Vec<u32>>,
    near: NearScratch,
}

impl NestedSort {
    /// The plan for a nesting of an arrangement in which every point of the nesting has a position.
    pub(crate) fn new(view: &View, arrangement: &Arrangement, number: usize) -> Option<Self> {
        let nesting: &Nesting = &arrangement.nestings[number];
        let mut plans = Vec::new();
        for level in 0..nesting.arities.len() {
            let place = |point: u32| {
                arrangement.places[point as usize]
                    .filter(|place| place.nesting == number && place.level == level)
                    .map(|place| place.node)
            };
            let orbit = |point: u32| arrangement.orbits[point as usize];
            plans.push(KeyPlan::new(view, nesting.node_count(level), place, orbit, true)?);
        }
        let mut widths = vec![0; plans.len()];
        let mut below = 0u32;
        for level in (0..plans.len()).rev() {
            let children = nesting.arities.get(level + 1).map_or(0, |&arity| arity as u32);
            widths[level] = plans[level].width.saturating_add(children.saturating_mul(below));
            below = widths[level];
        }
        let near = match &plans[..] {
            [plan] => NearPlan::new(plan).map(Near::Flat),
            [outer, inner] => NearBlocks::new(outer, inner).map(Near::Blocks),
            _ => None,
        };
        let near = near.unwrap_or(Near::No);
        Some(Self { arities: nesting.arities.clone(), plans, widths, order: nesting.order().into(), near })
    }

    pub(crate) fn order(&self) -> &Cardinality {
        &self.order
    }

    /// Whether some fields can hold objects.
    pub(crate) fn has_holders(&self) -> bool {
        self.plans.iter().any(KeyPlan::has_holders)
    }

    /// A description for reports.
    pub(crate) fn describe(&self) -> String {
        let things = match &self.arities[..] {
            [count] => format!("sorting {count} interchangeable parts"),
            [outer, inner] => format!("sorting {inner} parts inside each of {outer}, and then these"),
            _ => {
                let sizes: Vec<String> = self.arities.iter().rev().map(usize::to_string).collect();
                format!("sorting nested parts ({} from the inside out)", sizes.join(", "))
            }
        };
        match self.has_holders() {
            true => format!("{things} by their contents and by which variables hold them"),
            false => format!("{things} by their contents"),
        }
    }

    /// Sorts the objects of a state.
    #[inline]
    pub(crate) fn canonicalize(&self, state: &mut [u64], scratch: &mut SortScratch) {
        if let [plan] = &self.plans[..]
            && plan.count <= FEW
            && plan.width <= 128
        {
            return plan.sort_few(state);
        }
        match self.widths[0] {
            0..=64 => {
                self.sort(state, &mut scratch.narrow);
            }
            65..=128 => {
                self.sort(state, &mut scratch.wide);
            }
            _ => {
                self.sort_wide(state, scratch);
            }
        }
    }

    /// Sorts the objects of several states that differ little from a sorted one.
    pub(crate) fn canonicalize_near<'s>(
        &self,
        before: &[u64],
        states: impl Iterator<Item = &'s mut [u64]>,
        scratch: &mut SortScratch,
    ) {
        match &self.near {
            Near::Flat(near) if near.begin(&self.plans[0], before, &mut scratch.near) => {
                for state in states {
                    if !near.sort(&self.plans[0], before, state, &mut scratch.near) {
                        self.canonicalize(state, scratch);
                    }
                }
            }
            Near::Blocks(near) if near.begin(&self.plans, before, &mut scratch.near) => {
                for state in states {
                    if !near.sort(&self.plans, before, state, &mut scratch.near) {
                        self.canonicalize(state, scratch);
                    }
                }
            }
            _ => states.for_each(|state| self.canonicalize(state, scratch)),
        }
    }

    /// The number of arrangements that fix a state. The state becomes sorted.
    pub(crate) fn stabiliser_order(&self, state: &mut [u64], scratch: &mut SortScratch) -> Cardinality {
        if let Near::Blocks(near) = &self.near
            && near.begin(&self.plans, state, &mut scratch.near)
        {
            return near.stabiliser_order(&scratch.near);
        }
        match self.widths[0] {
            // Sorting a sorted state again leaves the keys including everything below them. One level needs no more.
            0..=64 => {
                self.sort(state, &mut scratch.narrow);
                if self.plans.len() > 1 {
                    self.sort(state, &mut scratch.narrow);
                }
                self.count_equals(&scratch.narrow)
            }
            65..=128 => {
                self.sort(state, &mut scratch.wide);
                if self.plans.len() > 1 {
                    self.sort(state, &mut scratch.wide);
                }
                self.count_equals(&scratch.wide)
            }
            _ => self.sort_wide(state, scratch),
        }
    }

    /// The keys of all levels, lowest level first; those of the upper levels include everything below.
    #[inline]
    fn sort<K: Key>(&self, state: &mut [u64], keys: &mut Vec<K>) {
        let deepest = self.plans.len() - 1;
        keys.clear();
        keys.resize(self.plans.iter().map(|plan| plan.count).sum(), K::default());
        if deepest == 0 {
            self.plans[0].load(state, keys);
            // States usually differ from a sorted one in few positions, or in none.
            if keys.is_sorted() {
                return;
            }
            keys.sort_unstable();
            return self.plans[0].store(keys, state);
        }
        let mut start = 0;
        let mut below = 0..0;
        let mut is_changed = false;
        for level in (0..=deepest).rev() {
            let plan = &self.plans[level];
            let (done, rest) = keys.split_at_mut(start);
            let own = &mut rest[..plan.count];
            plan.load(state, own);
            if level < deepest {
                let arity = self.arities[level + 1];
                let width = self.widths[level + 1];
                for (key, children) in own.iter_mut().zip(done[below.clone()].chunks_exact(arity)) {
                    for &child in children {
                        *key = *key << width | child;
                    }
                }
            }
            for siblings in own.chunks_exact_mut(self.arities[level]) {
                if siblings.len() <= FEW {
                    is_changed |= insert(siblings);
                } else if !siblings.is_sorted() {
                    siblings.sort_unstable();
                    is_changed = true;
                }
            }
            below = start..start + plan.count;
            start += plan.count;
        }
        if !is_changed {
            return;
        }
        // From the top down, every key is split into its own bits and those of its children.
        let mut level_end = keys.len();
        for level in 0..=deepest {
            let plan = &self.plans[level];
            let level_start = level_end - plan.count;
            let (lower, own) = keys[..level_end].split_at_mut(level_start);
            if level < deepest {
                let arity = self.arities[level + 1];
                let width = self.widths[level + 1];
                let mask = mask::<K>(width);
                let lower_start = level_start - plan.count * arity;
                for (key, children) in own.iter_mut().zip(lower[lower_start..].chunks_exact_mut(arity)) {
                    let mut rest = *key;
                    for child in children.iter_mut().rev() {
                        *child = rest & mask;
                        rest = shifted(rest, width);
                    }
                    *key = rest;
                }
            }
            plan.store(own, state);
            level_end = level_start;
        }
    }

    /// The number of arrangements that fix the sorted keys of all levels.
    fn count_equals<K: Key>(&self, keys: &[K]) -> Cardinality {
        let mut product = Cardinality::ONE;
        let mut start = 0;
        for level in (0..self.plans.len()).rev() {
            let own = &keys[start..start + self.plans[level].count];
            start += self.plans[level].count;
            for siblings in own.chunks_exact(self.arities[level]) {
                product.multiply_orders(siblings, |one, other| one == other);
            }
        }
        product
    }

    /// The same for keys of any width: objects are ranked level by level, from the lowest up. Returns the number of
    /// arrangements that fix the state.
    fn sort_wide(&self, state: &mut [u64], scratch: &mut SortScratch) -> Cardinality {
        let SortScratch { tokens, ranks, orders, .. } = scratch;
        tokens.resize_with(self.plans.len(), Vec::new);
        ranks.resize_with(self.plans.len(), Vec::new);
        orders.resize_with(self.plans.len(), Vec::new);
        let mut equals = Cardinality::ONE;
        for level in (0..self.plans.len()).rev() {
            let plan = &self.plans[level];
            let words = plan.load_wide(state, &mut tokens[level]);
            let children = |node: u32| -> &[u32] {
                let arity = self.arities.get(level + 1).copied().unwrap_or(0);
                orders.get(level + 1).map_or(&[], |order| &order[node as usize * arity..][..arity])
            };
            let compare = |left: u32, right: u32| {
                let own = |node: u32| &tokens[level][node as usize * words..][..words];
                own(left).cmp(own(right)).then_with(|| {
                    let rank = |&child: &u32| ranks[level + 1][child as usize];
                    children(left).iter().map(rank).cmp(children(right).iter().map(rank))
                })
            };
            let mut order: Vec<u32> = (0..plan.count as u32).collect();
            order.sort_by(|&left, &right| compare(left, right));
            let mut rank = vec![0; plan.count];
            for position in 1..plan.count {
                let (before, node) = (order[position - 1], order[position]);
                rank[node as usize] = rank[before as usize] + u32::from(compare(before, node).is_lt());
            }
            let mut order: Vec<u32> = (0..plan.count as u32).collect();
            for siblings in order.chunks_exact_mut(self.arities[level]) {
                siblings.sort_by_key(|&node| rank[node as usize]);
                let mut run = 1;
                for pair in siblings.windows(2) {
                    run = if rank[pair[0] as usize] == rank[pair[1] as usize] { run + 1 } else { 1 };
                    equals.multiply(Cardinality::Small(run));
                }
            }
            ranks[level] = rank;
            orders[level] = order;
        }
        // The node at each position: parents are moved first, together with their children.
        let mut parents: Vec<u32> = vec![0];
        for (level, plan) in self.plans.iter().enumerate() {
            let arity = self.arities[level];
            let placed: Vec<u32> = parents
                .iter()
                .flat_map(|&parent| orders[level][parent as usize * arity..][..arity].iter().copied())
                .collect();
            plan.store_wide(&tokens[level], &placed, state);
            parents = placed;
        }
        equals
    }
}

fn mask<K: Key>(width: u32) -> K {
    if width == 0 { K::default() } else { K::cut(u128::MAX >> (128 - width)) }
}

/// Shifts right by a width that may be the full width.
#[inline]
fn shifted<K: Key>(key: K, width: u32) -> K {
    if width >= K::BITS { K::default() } else { key >> width }
}
