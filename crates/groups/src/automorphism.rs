//! The automorphisms of a coloured graph: a strong generating set, its base and the order.
//!
//! A sparse, deterministic individualisation–refinement search; see `search` for the method and
//! `partition` for the refinement.

mod guess;
mod partition;
mod renumbering;
mod search;

use crate::{ColouredGraph, OrbitPartition, Permutation, Point, SparsePermutation, StabiliserChain, Watch};
use num_bigint::BigUint;

/// Limits that may stop the search before it is complete.
#[derive(Debug, Clone, Default)]
pub struct SearchLimits {
    /// The number of refinements after which no further branch is entered.
    pub refinements: Option<u64>,
}

/// A base point of the first path, with the length of its orbit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BasePoint {
    /// The point.
    pub point: Point,
    /// The length of its orbit under the stabiliser of all earlier base points.
    pub orbit_length: u32,
}

/// Counts of the work done by the search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Refinements after an individualisation.
    pub refinements: u64,
    /// Maps that were completed by guessing and verified.
    pub good_guesses: u64,
    /// Guesses that failed.
    pub bad_guesses: u64,
    /// Complete maps that failed verification.
    pub bad_leaves: u64,
}

/// The automorphism group of a graph.
#[derive(Debug, Clone)]
pub struct AutomorphismGroup {
    /// Strong generators with respect to [`base`](Self::base), in order of discovery: those that fix the most base
    /// points first. Each is verified to be an automorphism.
    pub generators: Vec<SparsePermutation>,
    /// The base with its orbit lengths.
    pub base: Vec<BasePoint>,
    /// The orbits on the vertices.
    pub orbits: OrbitPartition,
    /// The number of vertices.
    pub degree: usize,
    /// False if a limit stopped the search: then the generators are automorphisms, but may not generate the whole
    /// group, and the orbit lengths are lower bounds.
    pub complete: bool,
    /// Counts of the work done by the search.
    pub statistics: Statistics,
}

impl AutomorphismGroup {
    /// The orbit lengths along the base that exceed one; their product is the order of the group. For an incomplete
    /// search, a lower bound.
    pub fn order_factors(&self) -> Vec<u32> {
        self.base.iter().map(|point| point.orbit_length).filter(|&length| length > 1).collect()
    }

    /// The order of the group; for an incomplete search, a lower bound.
    pub fn order(&self) -> BigUint {
        product(self.order_factors())
    }

    /// The stabiliser chain along the base, built without computing new generators. Costs one pass over the vertices
    /// for each generator and base point, so it is meant for graphs of moderate size. `None` for an incomplete search,
    /// whose generators need not be strong.
    pub fn chain(&self) -> Option<StabiliserChain> {
        if !self.complete {
            return None;
        }
        let base: Vec<Point> = self.base.iter().map(|point| point.point).collect();
        let generators: Vec<Permutation> = self
            .generators
            .iter()
            .map(|generator| generator.to_dense(self.degree).expect("generators move vertices"))
            .collect();
        Some(StabiliserChain::from_strong(self.degree, &base, &generators))
    }
}

/// The product of many small factors, by recursive halving so that the operands stay balanced.
pub(crate) fn product(factors: impl IntoIterator<Item = u32>) -> BigUint {
    let mut factors: Vec<BigUint> = factors.into_iter().map(BigUint::from).collect();
    while factors.len() > 1 {
        factors = factors.chunks(2).map(|pair| pair.iter().product()).collect();
    }
    factors.pop().unwrap_or_else(|| BigUint::from(1u32))
}

/// The automorphism group of `graph`.
pub fn generators(graph: &ColouredGraph) -> AutomorphismGroup {
    generators_within(graph, &SearchLimits::default())
}

/// The automorphism group of `graph`, or the part found before a limit is reached.
pub fn generators_within(graph: &ColouredGraph, limits: &SearchLimits) -> AutomorphismGroup {
    search_watched(graph, limits, &Watch::nobody()).expect("nobody says to stop")
}

/// The automorphism group of `graph`; `None` if the watch stops the search. The unit of work is one edge examined.
pub fn generators_watched(graph: &ColouredGraph, watch: &Watch) -> Option<AutomorphismGroup> {
    search_watched(graph, &SearchLimits::default(), watch)
}

fn search_watched(graph: &ColouredGraph, limits: &SearchLimits, watch: &Watch) -> Option<AutomorphismGroup> {
    match renumbering::local_order(graph) {
        None => search::search(graph, limits, watch),
        Some(order) => {
            if watch.work(graph.edge_count() as u64) {
                return None;
            }
            Some(renumbering::restore(&order, search::search(&graph.renumbered(&order), limits, watch)?))
        }
    }
}
