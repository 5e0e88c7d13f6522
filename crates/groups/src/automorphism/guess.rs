//! From a branch beside the first path to the automorphism it promises.
//!
//! The map takes each vertex that is alone on the first path to the one alone at the same position of the
//! branch, and every vertex that is in the same cell on both sides to itself. When this leaves vertices
//! open (an exchange of two processes moves all rules of the one to the rules of the other, long before
//! refinement has told these rules apart), each is matched with the one vertex of its cell that has the
//! images of its known neighbours as neighbours. Where several are alike, they are matched in order, one
//! cell at a time: right when they are interchangeable, as the subtrees at a vertex of a tree are. That
//! is a guess; the verification at the end makes it a fact or drops it.

use super::partition::{Difference, Partition};
use crate::{ColouredGraph, Point, SparsePermutation};

const UNKNOWN: Point = Point::MAX;

/// The most rounds that may pass before a round must match an eighth of what is open: long chains are
/// left to refinement.
const FREE_ROUNDS: usize = 24;

/// Working space of the guesses.
#[derive(Debug, Default)]
pub(super) struct Guess {
    /// The image of each misplaced vertex, once known; `UNKNOWN` for all others.
    image: Vec<Point>,
    /// Whether a misplaced vertex is an image already.
    taken: Vec<bool>,
    /// Marks of the verification: a vertex is marked when it holds `mark`.
    marks: Vec<u32>,
    mark: u32,
    open: Vec<Open>,
    places: Vec<Open>,
}

/// A vertex to match: in the cell, with that hash of the known images around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    cell: u32,
    hash: u64,
    vertex: Point,
}

impl Open {
    fn key(&self) -> (u32, u64) {
        (self.cell, self.hash)
    }
}

#[inline]
fn mix(vertex: Point) -> u64 {
    let mixed = (u64::from(vertex) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

impl Guess {
    pub(super) fn new(vertices: usize) -> Self {
        Self {
            image: vec![UNKNOWN; vertices],
            taken: vec![false; vertices],
            marks: vec![0; vertices],
            ..Self::default()
        }
    }

    /// The automorphism of the present branch, if the map can be completed and is one. `levels` is how
    /// far the branch is from its leaf: a guess should not cost more than going there.
    pub(super) fn automorphism(
        &mut self,
        graph: &ColouredGraph,
        partition: &Partition,
        levels: usize,
    ) -> Option<SparsePermutation> {
        let difference = partition.difference.as_ref().expect("set with the reference");
        let found = if self.complete(graph, partition, difference, levels) && self.verify(graph, difference) {
            let mut moves: Vec<(Point, Point)> =
                difference.misplaced.iter().map(|&vertex| (vertex, self.image[vertex as usize])).collect();
            moves.sort_unstable();
            SparsePermutation::from_moves(moves).ok()
        } else {
            None
        };
        for &vertex in &difference.misplaced {
            self.image[vertex as usize] = UNKNOWN;
            self.taken[vertex as usize] = false;
        }
        found
    }

    /// Fills in the images of all misplaced vertices; false when some remain unknown.
    fn complete(
        &mut self,
        graph: &ColouredGraph,
        partition: &Partition,
        difference: &Difference,
        levels: usize,
    ) -> bool {
        let free_rounds = FREE_ROUNDS.min(levels);
        self.open.clear();
        self.places.clear();
        for &vertex in &difference.misplaced {
            // The cell that stands where the vertex stands on the first path.
            let position = partition.places[vertex as usize].reference;
            let target = partition.order[position as usize];
            let cell = partition.places[target as usize].cell;
            if partition.length(cell) == 1 {
                self.image[vertex as usize] = target;
                self.taken[target as usize] = true;
            } else {
                self.open.push(Open { cell, hash: 0, vertex });
            }
            let cell = partition.places[vertex as usize].cell;
            if partition.length(cell) > 1 {
                self.places.push(Open { cell, hash: 0, vertex });
            }
        }
        let mut rounds = 0;
        while !self.open.is_empty() {
            if self.open.len() != self.places.len() {
                return false;
            }
            for open in &mut self.open {
                open.hash = 0;
                for &next in graph.neighbours(open.vertex) {
                    let image = if difference.is_misplaced(next) { self.image[next as usize] } else { next };
                    if image != UNKNOWN {
                        open.hash = open.hash.wrapping_add(mix(image));
                    }
                }
            }
            for place in &mut self.places {
                place.hash = 0;
                for &next in graph.neighbours(place.vertex) {
                    if !difference.is_misplaced(next) || self.taken[next as usize] {
                        place.hash = place.hash.wrapping_add(mix(next));
                    }
                }
            }
            self.open.sort_unstable();
            self.places.sort_unstable();
            let before = self.open.len();
            if !self.match_unique() {
                return false;
            }
            rounds += 1;
            if self.open.len() == before {
                self.match_alike();
            } else if rounds > free_rounds && before - self.open.len() < before.div_ceil(8) {
                return false;
            }
        }
        true
    }

    /// Matches what is alone with its cell and hash; false when the two sides cannot be matched at all.
    fn match_unique(&mut self) -> bool {
        let (mut start, mut kept) = (0, 0);
        while start < self.open.len() {
            let end = self.end_of_class(start);
            if (start..end).any(|index| self.places[index].key() != self.open[start].key()) {
                return false;
            }
            if end - start == 1 {
                self.set_image(start);
            } else {
                self.open.copy_within(start..end, kept);
                self.places.copy_within(start..end, kept);
                kept += end - start;
            }
            start = end;
        }
        self.open.truncate(kept);
        self.places.truncate(kept);
        true
    }

    /// Matches the classes of one cell in order; the cell of the smallest class next to something known.
    fn match_alike(&mut self) {
        let mut best = (true, usize::MAX, 0);
        let mut start = 0;
        while start < self.open.len() {
            let end = self.end_of_class(start);
            best = best.min((self.open[start].hash == 0, end - start, self.open[start].cell));
            start = end;
        }
        let mut kept = 0;
        for index in 0..self.open.len() {
            if self.open[index].cell == best.2 {
                self.set_image(index);
            } else {
                self.open[kept] = self.open[index];
                self.places[kept] = self.places[index];
                kept += 1;
            }
        }
        self.open.truncate(kept);
        self.places.truncate(kept);
    }

    /// The end of the stretch of open vertices that are alike.
    fn end_of_class(&self, start: usize) -> usize {
        let key = self.open[start].key();
        start + self.open[start..].iter().take_while(|open| open.key() == key).count()
    }

    fn set_image(&mut self, index: usize) {
        let target = self.places[index].vertex;
        self.image[self.open[index].vertex as usize] = target;
        self.taken[target as usize] = true;
    }

    /// Whether the map keeps colours and edges; only moved vertices and their edges need a look.
    fn verify(&mut self, graph: &ColouredGraph, difference: &Difference) -> bool {
        difference.misplaced.iter().all(|&vertex| {
            let target = self.image[vertex as usize];
            if graph.colour(vertex) != graph.colour(target) || graph.degree(vertex) != graph.degree(target) {
                return false;
            }
            if self.mark == u32::MAX {
                self.marks.fill(0);
                self.mark = 0;
            }
            self.mark += 1;
            for &next in graph.neighbours(vertex) {
                let image = self.image[next as usize];
                self.marks[if image == UNKNOWN { next } else { image } as usize] = self.mark;
            }
            graph.neighbours(target).iter().all(|&next| self.marks[next as usize] == self.mark)
        })
    }
}
