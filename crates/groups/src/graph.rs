//! Simple undirected graphs with coloured vertices, in compressed sparse rows.

mod export;
pub mod families;

use crate::{Point, SparsePermutation, Watch};
use thiserror::Error;

/// Why a graph could not be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GraphError {
    /// An edge names a vertex that was never added.
    #[error("an edge ends in vertex {vertex}, but there are only {vertices} vertices")]
    NoSuchVertex {
        /// The vertex in question.
        vertex: Point,
        /// The number of vertices.
        vertices: usize,
    },
    /// An edge from a vertex to itself. Give the vertex its own colour instead.
    #[error("vertex {vertex} has an edge to itself")]
    Loop {
        /// The vertex in question.
        vertex: Point,
    },
    /// More vertices or edges than 32-bit offsets can number.
    #[error("the graph is too large: {vertices} vertices, {edges} edges")]
    TooLarge {
        /// The number of vertices.
        vertices: usize,
        /// The number of edges.
        edges: usize,
    },
}

/// Collects the vertices and edges of a [`ColouredGraph`].
#[derive(Debug, Clone, Default)]
pub struct GraphBuilder {
    colours: Vec<u32>,
    edges: Vec<(Point, Point)>,
}

impl GraphBuilder {
    /// A graph without vertices.
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder with capacity for that many vertices and edges.
    pub fn with_capacity(vertices: usize, edges: usize) -> Self {
        Self { colours: Vec::with_capacity(vertices), edges: Vec::with_capacity(edges) }
    }

    /// Adds a vertex; automorphisms map vertices only to vertices of equal colour.
    pub fn add_vertex(&mut self, colour: u32) -> Point {
        self.colours.push(colour);
        (self.colours.len() - 1) as Point
    }

    /// Adds `count` vertices of one colour and returns the first.
    pub fn add_vertices(&mut self, count: usize, colour: u32) -> Point {
        let first = self.colours.len() as Point;
        self.colours.resize(self.colours.len() + count, colour);
        first
    }

    /// Joins two vertices. Adding an edge twice has no further effect.
    pub fn add_edge(&mut self, left: Point, right: Point) {
        self.edges.push((left, right));
    }

    /// The number of edges so far; one that was added twice counts twice.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The number of vertices so far.
    pub fn vertex_count(&self) -> usize {
        self.colours.len()
    }

    /// The finished graph.
    ///
    /// # Errors
    /// If an edge is a loop or names an unknown vertex, or the graph is too large.
    pub fn build(self) -> Result<ColouredGraph, GraphError> {
        Ok(self.build_watched(&Watch::nobody())?.expect("nobody says to stop"))
    }

    /// The finished graph; `None` if the watch stops.
    ///
    /// # Errors
    /// As for [`GraphBuilder::build`].
    pub fn build_watched(self, watch: &Watch) -> Result<Option<ColouredGraph>, GraphError> {
        let vertices = self.colours.len();
        if vertices >= Point::MAX as usize || self.edges.len() >= (u32::MAX / 2) as usize {
            return Err(GraphError::TooLarge { vertices, edges: self.edges.len() });
        }
        let mut offsets = vec![0u32; vertices + 1];
        for edges in self.edges.chunks(EDGES_BETWEEN_QUESTIONS) {
            if watch.work(edges.len() as u64) {
                return Ok(None);
            }
            for &(left, right) in edges {
                for vertex in [left, right] {
                    if vertex as usize >= vertices {
                        return Err(GraphError::NoSuchVertex { vertex, vertices });
                    }
                }
                if left == right {
                    return Err(GraphError::Loop { vertex: left });
                }
                offsets[left as usize + 1] += 1;
                offsets[right as usize + 1] += 1;
            }
        }
        for vertex in 0..vertices {
            offsets[vertex + 1] += offsets[vertex];
        }
        let mut next: Vec<u32> = offsets[..vertices].to_vec();
        let mut targets = vec![0; self.edges.len() * 2];
        for edges in self.edges.chunks(EDGES_BETWEEN_QUESTIONS) {
            if watch.work(edges.len() as u64) {
                return Ok(None);
            }
            for &(left, right) in edges {
                targets[next[left as usize] as usize] = right;
                next[left as usize] += 1;
                targets[next[right as usize] as usize] = left;
                next[right as usize] += 1;
            }
        }
        Ok(ColouredGraph::from_rows(self.colours, &offsets, targets, watch))
    }
}

/// The number of edges processed between two polls of the watch.
const EDGES_BETWEEN_QUESTIONS: usize = 1 << 20;

/// A simple undirected graph with coloured vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColouredGraph {
    colours: Box<[u32]>,
    /// Row `v` of `targets` is `offsets[v]..offsets[v + 1]`, in increasing order without repetitions.
    offsets: Box<[u32]>,
    targets: Box<[Point]>,
}

impl ColouredGraph {
    fn from_rows(colours: Vec<u32>, rows: &[u32], mut targets: Vec<Point>, watch: &Watch) -> Option<Self> {
        let mut offsets = Vec::with_capacity(rows.len());
        offsets.push(0);
        let mut kept = 0;
        for vertex in 0..colours.len() {
            if vertex.is_multiple_of(EDGES_BETWEEN_QUESTIONS / 64) && watch.work(1) {
                return None;
            }
            let row = rows[vertex] as usize..rows[vertex + 1] as usize;
            targets[row.clone()].sort_unstable();
            let first = kept;
            for index in row {
                if kept == first || targets[kept - 1] != targets[index] {
                    targets[kept] = targets[index];
                    kept += 1;
                }
            }
            offsets.push(kept as u32);
        }
        targets.truncate(kept);
        let graph = Self { colours: colours.into(), offsets: offsets.into(), targets: targets.into() };
        Some(graph)
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.colours.len()
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.targets.len() / 2
    }

    /// The colour of each vertex.
    pub fn colours(&self) -> &[u32] {
        &self.colours
    }

    /// The colour of one vertex.
    pub fn colour(&self, vertex: Point) -> u32 {
        self.colours[vertex as usize]
    }

    /// The neighbours of `vertex`, in increasing order.
    #[inline]
    pub fn neighbours(&self, vertex: Point) -> &[Point] {
        let vertex = vertex as usize;
        &self.targets[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// The number of neighbours of `vertex`.
    #[inline]
    pub fn degree(&self, vertex: Point) -> usize {
        self.neighbours(vertex).len()
    }

    /// Whether two vertices are joined.
    pub fn has_edge(&self, left: Point, right: Point) -> bool {
        self.neighbours(left).binary_search(&right).is_ok()
    }

    /// Each edge once, smaller end first, in increasing order.
    pub fn edges(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        (0..self.vertex_count() as Point).flat_map(move |left| {
            self.neighbours(left).iter().copied().filter(move |&right| left < right).map(move |right| (left, right))
        })
    }

    /// The same graph with vertices renumbered: new vertex `v` is old vertex `order[v]`; `order` lists every vertex
    /// once.
    pub(crate) fn renumbered(&self, order: &[Point]) -> ColouredGraph {
        let mut names = vec![0; order.len()];
        for (name, &vertex) in order.iter().enumerate() {
            names[vertex as usize] = name as Point;
        }
        let mut offsets = Vec::with_capacity(order.len() + 1);
        let mut targets = Vec::with_capacity(self.targets.len());
        offsets.push(0);
        for &vertex in order {
            let start = targets.len();
            targets.extend(self.neighbours(vertex).iter().map(|&next| names[next as usize]));
            targets[start..].sort_unstable();
            offsets.push(targets.len() as u32);
        }
        Self {
            colours: order.iter().map(|&vertex| self.colour(vertex)).collect(),
            offsets: offsets.into(),
            targets: targets.into(),
        }
    }

    /// Whether `permutation` preserves colours and edges. Costs the number of edges at moved vertices times a
    /// logarithm. Deliberately naive: it is the reference against which other checks are tested.
    pub fn has_automorphism(&self, permutation: &SparsePermutation) -> bool {
        permutation.moves().all(|(vertex, image)| {
            (vertex as usize) < self.vertex_count()
                && (image as usize) < self.vertex_count()
                && self.colour(vertex) == self.colour(image)
                && self.degree(vertex) == self.degree(image)
                && self.neighbours(vertex).iter().all(|&next| self.has_edge(image, permutation.image(next)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_simple() {
        let mut builder = GraphBuilder::new();
        builder.add_vertices(3, 7);
        for (left, right) in [(2, 0), (0, 1), (1, 0), (0, 2)] {
            builder.add_edge(left, right);
        }
        let graph = builder.build().unwrap();
        assert_eq!(graph.neighbours(0), [1, 2]);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
        assert_eq!(graph.edge_count(), 2);
        assert!(graph.has_automorphism(&SparsePermutation::parse("(1 2)").unwrap()));
        assert!(!graph.has_automorphism(&SparsePermutation::parse("(0 2)").unwrap()));
        assert!(!graph.has_automorphism(&SparsePermutation::parse("(3 4)").unwrap()));
    }

    #[test]
    fn bad_edges_are_refused() {
        let mut builder = GraphBuilder::new();
        builder.add_vertices(2, 0);
        let mut with_loop = builder.clone();
        with_loop.add_edge(1, 1);
        assert_eq!(with_loop.build(), Err(GraphError::Loop { vertex: 1 }));
        builder.add_edge(0, 2);
        assert_eq!(builder.build(), Err(GraphError::NoSuchVertex { vertex: 2, vertices: 2 }));
    }
}
