//! Cache-friendly vertex numbers: if neighbours are numbered far apart, the search runs on a copy of the graph numbered
//! breadth first, and its result is translated back.
//!
//! Graphs made from models are already well numbered and are left unchanged.

use super::{AutomorphismGroup, BasePoint};
use crate::{ColouredGraph, OrbitPartition, Point, SparsePermutation};

/// Smaller graphs fit into the cache in any order.
const LEAST_VERTICES: usize = 1 << 15;
/// Neighbours this far apart are not close in memory.
const FAR: u32 = 1 << 12;
/// The number of vertices sampled to judge the numbering.
const SAMPLE: usize = 1 << 10;

/// The vertices in breadth-first order, if most neighbours are numbered far apart.
pub(super) fn local_order(graph: &ColouredGraph) -> Option<Vec<Point>> {
    let count = graph.vertex_count();
    if count < LEAST_VERTICES {
        return None;
    }
    let (mut edges, mut far) = (0usize, 0usize);
    for vertex in (0..count).step_by(count / SAMPLE) {
        for &next in graph.neighbours(vertex as Point) {
            edges += 1;
            far += usize::from(next.abs_diff(vertex as Point) > FAR);
        }
    }
    (far * 4 > edges * 3).then(|| breadth_first(graph))
}

fn breadth_first(graph: &ColouredGraph) -> Vec<Point> {
    let mut order: Vec<Point> = Vec::with_capacity(graph.vertex_count());
    let mut seen = vec![false; graph.vertex_count()];
    let mut next = 0;
    for start in 0..graph.vertex_count() as Point {
        if seen[start as usize] {
            continue;
        }
        seen[start as usize] = true;
        order.push(start);
        while next < order.len() {
            for &neighbour in graph.neighbours(order[next]) {
                if !seen[neighbour as usize] {
                    seen[neighbour as usize] = true;
                    order.push(neighbour);
                }
            }
            next += 1;
        }
    }
    order
}

/// The group in terms of the original vertex numbers; `order[v]` is the old number of vertex `v`.
pub(super) fn restore(order: &[Point], found: AutomorphismGroup) -> AutomorphismGroup {
    let generators: Vec<SparsePermutation> = found
        .generators
        .iter()
        .map(|generator| {
            let mut moves: Vec<(Point, Point)> =
                generator.moves().map(|(point, image)| (order[point as usize], order[image as usize])).collect();
            moves.sort_unstable();
            SparsePermutation::from_sorted_moves(moves)
        })
        .collect();
    AutomorphismGroup {
        orbits: OrbitPartition::of_generators(found.degree, &generators),
        base: found
            .base
            .iter()
            .map(|point| BasePoint { point: order[point.point as usize], orbit_length: point.orbit_length })
            .collect(),
        generators,
        ..found
    }
}

#[cfg(test)]
mod tests {
    use crate::generators;
    use crate::graph::families;

    #[test]
    fn shuffled_graphs_are_renumbered_and_restored() {
        let graph = families::ring_model(4000, 3);
        assert!(super::local_order(&graph).is_none());
        let shuffled = families::shuffled(&graph, 3);
        assert!(super::local_order(&shuffled).is_some());
        let found = generators(&shuffled);
        assert_eq!(found.order_factors(), [4000]);
        assert!(found.generators.iter().all(|generator| shuffled.has_automorphism(generator)));
        assert_eq!(found.orbits.clone().classes(2).len(), generators(&graph).orbits.clone().classes(2).len());
    }
}
